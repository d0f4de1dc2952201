"""A streaming query from JetStream into Parquet, as a program of its own that can be killed.

    python -m tests.support.streaming_query FOLDER OPTIONS        runs until it is killed
    python -m tests.support.streaming_query FOLDER OPTIONS READ   runs to the end of what there is, then
                                          writes the table, read through its metadata, to READ

OPTIONS: the data source's, as JSON. In FOLDER: `table`, `checkpoint`, and Spark's own files.
"""

import json
import os
import sys
from pathlib import Path

import pyarrow.parquet as pq

from tests.support import spark_home

MASTER = "local-cluster[2,1,1024]"
"""Two workers with a core and 1,024 MiB each: their executors are processes of their own."""


def home(folder: Path) -> Path:
    """Create a SPARK_HOME like the present one: executors of a local cluster work in a folder below it."""
    from pyspark.find_spark_home import _find_spark_home

    own = folder / "spark"
    spark_home.link_home(Path(_find_spark_home()), own)
    return own


def main(folder: Path, options: dict[str, str], read: Path | None) -> None:
    from pyspark.sql import SparkSession

    temporary = folder / "temporary"
    temporary.mkdir(parents=True, exist_ok=True)
    os.environ |= {"SPARK_HOME": str(home(folder)), "PYSPARK_PYTHON": sys.executable}
    spark = (
        SparkSession.builder.master("local[2]" if read else MASTER)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "WARN")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.local.dir", str(temporary))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.driver.extraJavaOptions", f"{spark_home.QUICK} -Djava.io.tmpdir={temporary}")
        .config("spark.executor.extraJavaOptions", spark_home.QUICK)
        .config("spark.sql.session.timeZone", "UTC")
        # Spark gives up on an application whose executors die ten times; here they are killed more often.
        .config("spark.deploy.maxExecutorRetries", "-1")
        .getOrCreate()
    )
    table = folder / "table"
    query = (
        spark.readStream.format("jetstream")
        .options(**options)
        .load()
        .writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "checkpoint"))
    )
    if read is None:
        query.start(str(table)).awaitTermination()
    else:
        query.trigger(availableNow=True).start(str(table)).awaitTermination()
        result = spark.read.parquet(str(table)).select("sequence", "subject", "data")
        pq.write_table(result.toArrow(), read)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
