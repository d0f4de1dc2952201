"""What live screens show, by its kind."""

from jsctl.render.screen import Frame, lines_frame, result_frame
from jsctl.views.events import Picture
from jsctl.views.result import Result


def picture_frame(picture: Picture, *, scheme: str = "", color: bool = False) -> Frame:
    """Return what draws a picture. scheme: the colours of the borders of tables."""
    if isinstance(picture, Result):
        return result_frame(picture, scheme=scheme, color=color)
    from jsctl.render.plot import stacked_charts

    title, charts = picture
    return lines_frame(lambda width, height: stacked_charts(title, charts, width, height))
