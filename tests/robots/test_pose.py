"""Poses on the floor."""

import math

import pytest

from robots.pose import Pose


def test_a_pose_in_another_frame_and_back() -> None:
    frame, pose = Pose(1.0, 2.0, math.pi / 2), Pose(1.0, 5.0, math.pi)
    seen = pose.seen_from(frame)
    assert seen == pytest.approx((3.0, 0.0, math.pi / 2))
    assert frame @ seen == pytest.approx(pose)
    assert frame.distance((1.0, 5.0)) == pytest.approx(3.0)
    assert frame.bearing((0.0, 2.0)) == pytest.approx(math.pi / 2)
