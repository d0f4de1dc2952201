"""The data source `jetstream`, for reading, writing and streaming queries."""

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from jsctl.base import loops
from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.nats import login
from jsctl.spark.source.batch_reader import (
    JetStreamReader,
    build_spark_schema,
    validate_schema,
)
from jsctl.spark.source.failures import without_traceback
from jsctl.spark.source.newest_schema import find_newest_schema
from jsctl.spark.source.options import ReadOptions, parse_read_options

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamReader, DataSourceStreamWriter, DataSourceWriter


class JetStreamSource(DataSource):
    """The data source. Its options are in `spark.source.options`, its schema in `spark.source.columns`."""

    settings: Settings | None = None  #: of the connection, unless options name it (see `registration`)
    login: Settings | None = None  #: of a schema registry, unless the environment has it
    is_lenient = False  #: whether to leave out sequences in the options that no longer exist

    @classmethod
    def name(cls) -> str:
        return "jetstream"

    @without_traceback
    def schema(self) -> StructType:
        # Spark does not say here whether the query is streaming; the readers check that.
        return build_spark_schema(self._parse(streaming=None))

    @without_traceback
    def reader(self, schema: StructType) -> JetStreamReader:
        options = self._parse(streaming=False)
        validate_schema(schema, options)
        # Tasks may run on machines without the files that a connection names.
        portable = replace(options, settings=loops.run(login.with_files(options.settings)))
        return JetStreamReader(portable, lenient=self.is_lenient)

    def streamReader(self, schema: StructType) -> "DataSourceStreamReader":
        from jsctl.spark.source.stream_reader import FailingReader, JetStreamStreamReader

        try:
            options = self._parse(streaming=True)
            validate_schema(schema, options)
        except JsctlError as error:
            return FailingReader(error)
        return JetStreamStreamReader(options)

    @without_traceback
    def writer(self, schema: StructType, overwrite: bool) -> "DataSourceWriter":
        from jsctl.spark.sink import writers

        return writers.create_writer(self.options, schema, overwrite, self.settings)

    @without_traceback
    def streamWriter(self, schema: StructType, overwrite: bool) -> "DataSourceStreamWriter":
        from jsctl.spark.sink import writers

        return writers.create_stream_writer(self.options, schema, overwrite, self.settings)

    def _parse(self, *, streaming: bool | None) -> ReadOptions:
        return parse_read_options(
            self.options,
            streaming=streaming,
            settings=self.settings,
            login=self.login,
            find_schema=find_newest_schema,
        )
