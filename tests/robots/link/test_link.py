import json
import random
import re
import shutil
import socket
import struct
import threading
from contextlib import ExitStack, closing, contextmanager, suppress
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

import surefoot
from robots.attitude import turned_about_z
from robots.deployment.deployment import deploy
from robots.deployment.traces import read_trace
from robots.errors import InvalidFileError, InvalidValueError
from robots.link import driving, simulated
from robots.link import server as serving_module
from robots.link.driving import drive
from robots.link.interface import Interface
from robots.link.link import LinkError
from robots.link.messages import CommandMessage, Hello, Odometry, State, decode, encode, motor_commands
from robots.link.observer import Observer
from robots.link.remote import RemoteLink
from robots.link.server import RobotServer
from robots.link.simulated import SimulatedRobot
from robots.link.sockets import make_keys, new_socket
from robots.link.telemetry import McapLog, Reading, write_link_csv, write_mcap
from robots.pose import Pose
from robots.robot import find_robot, robot_from_text
from robots.simulation.trace import TraceColumns
from tests.robots.link.test_export import limited
from tests.robots.link.virtual import Rig, SimulatedLink
from tests.robots.stepping import begun

pytestmark = pytest.mark.real_time


def free_port():
    """The first of three ports on end that nobody listens at."""
    while True:
        with socket.socket() as found, suppress(OSError, OverflowError), ExitStack() as stack:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
            for after in (1, 2):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port + after))
            return port


@contextmanager
def serving(robot, *, machine=None, keys=None):
    address, over = f"tcp://127.0.0.1:{free_port()}", threading.Event()
    server = RobotServer(machine or SimulatedRobot(robot, robot), address, keys=keys)
    thread = threading.Thread(target=server.run, args=(over.is_set,))
    thread.start()
    try:
        yield address, server
    finally:
        over.set()
        thread.join()
        server.close()


def test_a_gait_does_not_begin_on_a_robot_that_lies(gait):
    class Lying(SimulatedLink):
        acted = 0

        def observe(self):
            state = super().observe()
            lying = state.imu_state.model_copy(update={"quaternion": (0.0, 1.0, 0.0, 0.0)})
            return state.model_copy(update={"imu_state": lying})

        def act(self, action):
            self.acted += 1

    robot, parameters = gait
    link = Lying(SimulatedRobot(robot, robot, seed=1))
    assert (drive(link, parameters, 3).ended, link.acted) == ("fall", 0)


def test_a_robot_whose_gait_makes_no_finite_action_is_damped(gait, monkeypatch):
    robot, parameters = gait
    link = SimulatedLink(SimulatedRobot(robot, robot, seed=1))
    nothing = np.full(robot.action_dim, np.nan, np.float32)
    monkeypatch.setattr("robots.link.driving.Actor.__call__", lambda *_: nothing)
    with pytest.raises(InvalidValueError, match="no finite action"):
        drive(link, parameters, 3)
    assert link.observe().mode == "damping"


def test_a_gait_that_sees_its_way_needs_odometry():
    robot = find_robot("ant")
    parameters = np.zeros(robot.controller.parameter_count)
    with pytest.raises(InvalidValueError, match="without odometry"):
        drive(SimulatedLink(SimulatedRobot(robot, robot, odometry=False)), parameters, 1)


def test_an_imu_that_is_turned_reads_over_a_link_what_it_reads_in_simulation():
    known = find_robot("hexapod")
    xml = known.xml.replace("<freejoint", '<site name="nose" euler="1.2 0.3 -0.5"/><freejoint', 1)
    described = yaml.safe_load(known.yaml) | {
        "controller": {"kind": "mlp", "hidden": [4]},
        "observations": {
            "imu": "nose",
            "terms": ["gravity", "roll", "gyroscope", "accelerometer", "heading"],
        },
    }
    robot = robot_from_text(xml, yaml.safe_dump(described), origin="it")
    link, stepper = SimulatedLink(SimulatedRobot(robot, robot, seed=1)), begun(robot, 1)
    observe = driving.Senses(robot, link.observe())

    def seen(action):
        return observe(driving.Seen(link.observe(), action, Pose()), Pose(), action)

    found = seen(np.zeros(robot.action_dim))
    np.testing.assert_allclose(found[:7], stepper.state.observation[:7], atol=1e-3)
    action = np.full(robot.action_dim, 0.7)
    link.act(action)
    stepper.step(action)
    found = seen(action)
    assert abs(found[4:7]).max() > 0.01
    np.testing.assert_allclose(found, stepper.state.observation, atol=0.05)
    assert Observer(robot).needs == ("orientation", "rates", "acceleration")


def moved(state, frame):
    """A state of a robot that is at a pose in a frame, of which the state says it is the world."""
    place = frame @ Pose(*state.odometry.position[:2])
    velocity = Rotation.from_euler("z", frame.yaw).apply(state.odometry.velocity)
    odometry = Odometry(position=(*place[:2], state.odometry.position[2]), velocity=velocity.tolist())
    turned = turned_about_z(state.imu_state.quaternion, frame.yaw)
    imu = state.imu_state.model_copy(update={"quaternion": tuple(turned)})
    return state.model_copy(update={"odometry": odometry, "imu_state": imu})


def test_a_target_is_ahead_of_where_a_robot_starts():
    robot = find_robot("ant")
    parameters = 0.3 * np.random.default_rng(2).standard_normal(robot.controller.parameter_count)
    actions = []
    for frame in (Pose(), Pose(3.0, -20.0, 2.9)):
        link, made = SimulatedLink(SimulatedRobot(robot, robot, seed=1)), []
        link.observe = lambda observe=link.observe, frame=frame: moved(observe(), frame)
        drive(link, parameters, 0.3, lambda moment, made=made: made.append(moment.action))
        actions.append(made[:6])
    np.testing.assert_allclose(actions[1], actions[0], atol=1e-3)


def test_a_hello_that_cannot_be_sent_is_given_up(gait, monkeypatch):
    def hung_up(*given, **options):  # as where a robot with keys hangs up on who has none
        sending = new_socket(*given, **options)
        sending.immediate = True
        return sending

    monkeypatch.setattr("robots.link.remote.new_socket", hung_up)
    with pytest.raises(LinkError, match="no robot answers"):
        RemoteLink(gait[0], f"tcp://127.0.0.1:{free_port()}", patience=0.1)


def test_the_keys_must_be_those_of_the_robot(gait, tmp_path):
    robot, _ = gait
    own, other, mixed = (tmp_path / name for name in ("own", "other", "mixed"))
    with serving(robot, keys=own) as (address, server):
        make_keys(other)
        shutil.copytree(other, mixed)
        shutil.copy(own / "robot.key", mixed)  # the robot's, but not the computer's
        for keys in (None, other, mixed):
            with pytest.raises(LinkError, match="no robot answers"):
                RemoteLink(robot, address, keys=keys, patience=0.5)
        with pytest.raises(InvalidFileError, match="has no key"):
            RemoteLink(robot, address, keys=tmp_path / "none", patience=0.5)
        for name, content in (("robot.key", ""), ("robot.key", "a"), ("computer.key_secret", "#" * 40)):
            shutil.copytree(own, other, dirs_exist_ok=True)
            text = re.sub('-key = ".*"', f'-key = "{content}"', (other / name).read_text())
            (other / name).write_text(text if content else "")
            with pytest.raises(InvalidFileError, match="in a new folder"):
                RemoteLink(robot, address, keys=other, patience=0.5)
        with RemoteLink(robot, address, keys=own) as link:
            link.act(np.zeros(robot.action_dim))
            assert link.observe() is not None
        assert server.timing.refused == 0
    assert (own / "robot.key_secret").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["hexapod", "ant"])
def test_a_table_of_a_drive_is_that_of_the_simulation(name, tmp_path):
    repertoire = surefoot.load(name)
    robot, parameters = repertoire.robot, repertoire.gaits.solutions[repertoire.find("best")]
    joints, feet = robot.description.joints, tuple(robot.description.feet)
    telemetry = deploy(robot, parameters, seconds=1, seed=1)
    telemetry.write_csv(tmp_path / "simulated.csv", "a gait")
    link, moments = SimulatedLink(SimulatedRobot(robot, robot, seed=1)), []
    walked = drive(link, parameters, 1, moments.append)
    assert (walked.ended, walked.ahead) == ("time", pytest.approx(telemetry.walk.ahead, rel=0.02, abs=0.01))
    write_link_csv(moments, tmp_path / "driven.csv", joints, feet, gait="a gait")
    simulated, driven = (read_trace(tmp_path / f"{how}.csv", robot)[1] for how in ("simulated", "driven"))
    assert simulated.shape == driven.shape == (len(moments), TraceColumns.of(robot).end)
    np.testing.assert_allclose(driven[:20], simulated[:20], atol=5e-3)


def test_wrong_ends_are_told(gait):
    robot, _ = gait
    with serving(robot) as (taken, _), pytest.raises(InvalidValueError, match="nothing can listen"):
        RobotServer(SimulatedRobot(robot, robot), taken)
    for wrong in ("127.0.0.1:6000", "tcp://127.0.0.1:99", "ipc://robot", "tcp://:6000"):
        with pytest.raises(InvalidValueError, match="must be tcp://HOST:PORT"):
            RemoteLink(robot, wrong)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"{\xff", "is no robot"),
        (encode(Hello(protocol=1, refusal="no \x1b[2J\x07entry")), "refuses"),
        (encode(Hello(protocol=1, robot="a\x1bnt")), "is another one, .*, than the gait's, .* in joints$"),
    ],
)
def test_what_is_no_robot_or_refuses_is_told_and_controls_no_terminal(gait, monkeypatch, answer, message):
    rig = Rig(monkeypatch, gait[0])
    monkeypatch.setattr(rig.server, "_greet", lambda: setattr(rig, "_answer", answer))
    with pytest.raises(LinkError, match=message) as refused:
        rig.link()
    rig.server.close()
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize("knows", [None, 3.0, 5.0])
def test_what_is_sent_keeps_to_the_ranges_of_joints_and_to_the_rate_of_the_robot(monkeypatch, knows):
    robot = limited(find_robot("hexapod"), 3.0, 9.0)
    low, high = np.transpose([robot.physics.joint(name).range for name in robot.description.joints])
    rig = Rig(monkeypatch, robot)
    with closing(rig.server), rig.link(limited(find_robot("hexapod"), knows, 9.0)) as link:
        for damps in (link.damp, lambda: None, link.damp):  # then it begins where the damped joints are
            sent = [[motor.q for motor in link.state.motor_state]]
            for action in np.repeat([1.0, -1.0], 60):
                link.act(np.full(robot.action_dim, action))
                link.observe()
                sent.append([motor["q"] for motor in json.loads(rig.commands[-1])["motor_cmd"]])
            np.testing.assert_array_equal(np.max(sent[1:], axis=0), high)
            np.testing.assert_array_equal(sent[-1], low)
            assert np.abs(np.diff(np.clip(sent, low, high), axis=0)).max() <= 3.0 * robot.control_step + 1e-9
            damps()  # or the robot does it, since commands are late
            rig.sleep(0.1)
            rig.machine._stepper.data.qpos[7:] = 0.3  # as somebody bends its legs
            rig.sleep(robot.control_step)
            link.observe()
    assert rig.server.timing.refused == 0
    assert re.search(r"; targets were limited, that of \w+ to its (rate|range) in \d+ commands, ", link.words)


def test_a_robot_is_free_once_it_is_let_go_of(gait):
    robot, parameters = gait
    with serving(robot) as (address, _):
        for _ in range(2):
            with RemoteLink(robot, address) as link:
                assert drive(link, parameters, 0.2).ended == "time"
        gone = RemoteLink(robot, address)
        gone._context.destroy(linger=0)  # without a word
        with RemoteLink(robot, address) as link:
            assert link.observe().mode == "ready"


def test_damage_stays_when_something_else_breaks(run, monkeypatch):
    served = []
    monkeypatch.setattr(simulated, "SimulatedRobot", lambda *robots, **options: served.append(options))
    monkeypatch.setattr(serving_module, "RobotServer", lambda *_, **options: SimpleNamespace(
        run=lambda stop: None, close=lambda: None, timing=SimpleNamespace(words="done")
    ))  # fmt: skip
    run("robot hexapod --serve --damage left_front:lost --break right_front:lost@0.1 --break repaired@9")
    (first, both), (second, none) = served[0]["changes"]
    assert (first, second) == (0.1, 9)
    assert [str(change.label) for change in both.modifications] == ["left_front:lost", "right_front:lost"]
    assert none.modifications == ()


def failing(error):
    def fails(*_):
        raise error

    return fails


def test_nothing_is_lost_where_no_robot_answers_or_the_disk_is_full(gait, tmp_path, monkeypatch):
    robot, parameters = gait
    file = tmp_path / "walk.mcap"
    file.write_text("of yesterday")
    monkeypatch.setattr(RemoteLink, "_greeted", failing(LinkError("no robot answers")))
    with pytest.raises(LinkError):
        surefoot.drive("hexapod", robot="tcp://127.0.0.1:6000", mcap=file)
    walk = deploy(robot, parameters, seconds=0.1, seed=1)
    monkeypatch.setattr(McapLog, "write", failing(InvalidFileError("full")))
    with pytest.raises(InvalidFileError, match="full"):
        write_mcap(walk, file, gait="best")
    assert file.read_text() == "of yesterday"
    assert list(tmp_path.iterdir()) == [file]


def mutated(message, rng):
    data = bytearray(message)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        end = min(at + rng.randint(1, 9), len(data))
        data[at:end] = rng.choice(
            [b"", bytes([rng.randrange(256)]), b"NaN", b"1e999", b"-1", b"null", b"[", data[:20], b'"q":0,']
        )
    return bytes(data)


def test_mutated_messages_do_no_harm(gait):
    robot, _ = gait
    face, rng = Interface.of(robot), random.Random(1)
    simulated = SimulatedRobot(robot, robot)
    server = RobotServer(simulated, f"tcp://127.0.0.1:{free_port()}")
    server._session = "s"
    commands = motor_commands(face, np.zeros(robot.action_dim))
    known = [
        (CommandMessage, encode(CommandMessage(session="s", seq=7, motor_cmd=commands))),
        (State, encode(simulated.state(1, "ready", 0))),
        (Hello, encode(Hello(protocol=1, robot="hexapod", joints=("a",), session="s"))),
    ]
    refused = 0
    try:
        for i in range(3_000):
            kind, message = known[i % 3]
            try:
                found = decode(kind, mutated(message, rng))
                assert not re.search(r"\b(nan|inf)\b", found.model_dump_json().lower())
                if kind is CommandMessage:
                    server._check(found)
            except InvalidValueError:
                refused += 1
    finally:
        server.close()
    assert 2400 < refused < 3_000


def test_a_log_that_was_cut_off_can_be_read(gait, tmp_path):
    robot, parameters = gait
    names = robot.description.joints, tuple(robot.description.feet)
    log, moments = McapLog(tmp_path / "walk.mcap", *names, gait="best"), []
    link = SimulatedLink(SimulatedRobot(robot, robot))
    drive(link, parameters, 3, lambda moment: (moments.append(moment), log.write(Reading.of(moment))))
    cut = (tmp_path / "walk.mcap").read_bytes()  # nothing was closed
    assert len(cut) > 65_536
    log.close()
    angles = [[motor.q for motor in moment.state.motor_state] for moment in moments]
    assert [row.position for row in decoded(tmp_path / "walk.mcap", "/joint_states")] == angles
    (tmp_path / "cut.mcap").write_bytes(cut)
    steps = decoded(tmp_path / "cut.mcap", "/control_step")
    assert 10 < len(steps) <= len(moments)
    np.testing.assert_allclose(steps[3].action, moments[3].action)


def decoded(path, topic):
    from mcap.exceptions import McapError
    from mcap.reader import NonSeekingReader
    from mcap_ros2.decoder import DecoderFactory

    found = []
    with path.open("rb") as file, suppress(McapError, EOFError, struct.error):  # where it was cut off
        reader = NonSeekingReader(file, decoder_factories=[DecoderFactory()])
        found.extend(row for *_, row in reader.iter_decoded_messages([topic], log_time_order=False))
    return found
