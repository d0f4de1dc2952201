"""Numbers drawn as text."""

import pytest

from jsctl.commands.consumer import graph as consumer_graph
from jsctl.commands.stream import graph as stream_graph
from jsctl.render.plot import (
    draw_chart,
    draw_sparkline,
    plot_bars,
    plot_dots,
    plot_lines,
    squeeze,
    stack_charts,
)
from jsctl.views.result import Chart
from jsctl.views.shared.graph import draw_curves


def test_lines_have_an_axis_and_end_with_the_newest_value() -> None:
    assert plot_lines([0, 4, 4, 2], 12, 4, lambda value: f"{value:g}") == [
        " 4 ┤     ╭─╮",
        " 3 ┤     │ │",
        " 2 ┤     │ ╰",
        " 1 ┤     │",
        " 0 ┤     ╯",
    ]
    flat = plot_lines([0.0] * 50, 12, 2, lambda value: f"{value:.0f}")
    assert flat[-1] == " 0 ┤" + "─" * 8
    for line in plot_lines([float(n % 7) for n in range(500)], 40, 5, lambda value: f"{value:.2f}"):
        assert len(line) <= 40


def test_bars_have_an_axis_up_to_the_largest_value() -> None:
    assert plot_bars([0, 8, 16], 30, 2) == ["       16 ┤  █", "        0 ┤ ██"]
    assert plot_bars([], 30, 1) == ["        1 ┤"]


def test_dots_fill_the_area_below() -> None:
    assert plot_dots([0, 7, None, 7], width=2, height=2) == ["⢸⢸", "⣸⢸"]
    assert plot_dots([None], 10, 3) == []


def test_sparkline() -> None:
    assert draw_sparkline([0, None, 7]) == "▁ █"
    assert draw_sparkline([5, 5]) == "██" and draw_sparkline([0, 0]) == "▁▁"
    assert draw_sparkline([90, 100]) == "▇█", "from zero, not from the smallest"
    assert draw_sparkline([None]) == ""


def test_squeezing_loses_no_peak() -> None:
    assert squeeze([1, 9, 2, None, None, None], 3) == [9, 2, None]
    assert squeeze([1, 2], 3) == [1, 2]


@pytest.mark.parametrize("height", [20, 24, 50])
def test_stacked_charts_fit(height: int) -> None:
    for curves in (stream_graph.CURVES, consumer_graph.CURVES):
        charts = draw_curves(curves, [])
        assert len(stack_charts(charts, 80, height)) <= height
    assert "increase" in stack_charts(charts, 19, height)[0].text


def test_a_caption_is_below_bars_and_above_dots() -> None:
    assert draw_chart(Chart("c", [1], "bars", 1), 40) == ["        1 ┤█", "           c"]
    assert draw_chart(Chart("c", [1], "dots", 1), 40)[0] == "c"
