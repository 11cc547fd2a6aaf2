"""The explorer in a real browser, which draws in software; `make test-browser` runs this."""

import json
import os
import threading
import time
from dataclasses import replace
from urllib.parse import urlsplit

import numpy as np
import psutil
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import surefoot
from adapt.requests import RecoveryRequest
from repertoire.storage.files import RunFiles
from repertoire.storage.repertoires import write_repertoire
from surefoot.explorer import export
from surefoot.explorer.archive import describe_archive
from surefoot.explorer.explorer import Explorer
from surefoot.explorer.export import export_page
from surefoot.explorer.server import Server
from surefoot.shipped import repertoire_path
from tests.adapt.rehearsal.small import save_rehearsal
from tests.adapt.self_model.small_minds import short_gaits
from tests.surefoot.explorer.test_mission_log import short_mission

DAMAGE = "left_front:lost"
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
# even a slow machine that does something else reaches these
FRAMES = 5  # a second, at least
FIRST_POSE = 2.0  # after a click [s]
MEMORY = 700  # [MB]


class Running:
    """A server in a thread."""

    def __init__(self, port: int = 0, explorer: Explorer | None = None) -> None:
        explorer = explorer or Explorer(
            repertoire_path("hexapod"), "hexapod", RecoveryRequest(trials=8, selector="rehearsed")
        )
        self.server = Server(explorer, host="127.0.0.1", port=port, token="test")
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()
        self.thread.join(20)


@pytest.fixture(scope="module")
def running():
    with Running() as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        path = os.environ["SUREFOOT_BROWSER"]
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(running: Running, browser: Browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    own = urlsplit(running.server.address).netloc
    page.on("request", lambda request: outside(request.url, own, problems))
    page.goto(running.server.address)
    until(page, "surefoot.views[0]?.recording?.rows > 20")
    yield page
    page.close()
    assert not problems


def outside(url: str, own: str, problems: list[str]) -> None:
    """Note a request to another origin."""
    if urlsplit(url).scheme not in ("data", "blob") and urlsplit(url).netloc != own:
        problems.append(url)


def until(page: Page, condition: str, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not page.evaluate(f"Boolean({condition})"):
        assert time.monotonic() < deadline, condition
        time.sleep(0.02)


def test_a_click_and_arrow_keys_choose_a_gait(page: Page) -> None:
    pose = "JSON.stringify(surefoot.views[0].stage.bodies[1].position)"
    first, row = page.evaluate(pose), page.evaluate("surefoot.archive.row")
    page.click("#map canvas", position={"x": 200, "y": 200})
    until(page, f"surefoot.archive.row !== {row} && {pose} !== {json.dumps(first)}")
    row = page.evaluate("surefoot.archive.row")
    page.keyboard.press("ArrowRight")
    until(page, f"surefoot.archive.row !== {row} && surefoot.views[0].recording.rows > 5")
    assert page.evaluate("document.activeElement.id") == "cursor"
    name = page.evaluate("surefoot.archive.name(surefoot.archive.row)")
    until(page, f"document.querySelector('figcaption').textContent.includes('{name}')")


def test_a_leg_breaks_and_the_recovery_is_the_record(page: Page) -> None:
    page.fill("#text", DAMAGE)
    page.click("button[type=submit]")
    until(page, f"surefoot.views[0].recording.scene.damage === '{DAMAGE}'")
    page.click("#recover")
    page.click("#best")
    assert "answers once the recovery is computed" in page.inner_text("#notes")
    until(page, "surefoot.recovery.record.trials.length")
    page.click("#skip")
    until(page, "surefoot.recovery.record.result")
    recovery = surefoot.recover("hexapod", DAMAGE, trials=8, selector="rehearsed")
    assert recovery.verdict in page.inner_text("#verdict")
    shown = page.evaluate(
        "surefoot.recovery.record.trials.map(({row, seed, measured, fell}) => ({row, seed, measured, fell}))"
    )
    assert shown == [
        {name: getattr(trial, name) for name in ("row", "seed", "measured", "fell")}
        for trial in recovery.trials
    ]
    assert page.locator("#trials tr").count() == len(shown)
    assert page.locator("figure").count() == 2  # the second one is what was imagined
    imagined = page.evaluate("surefoot.recovery.record.trials.at(-1).imagined.row")
    page.click("figure:nth-child(2) figcaption")
    page.click("#repair")
    until(page, f"surefoot.views[1].recording.row === {imagined}")
    assert page.evaluate("surefoot.views[1].recording.damage") == ""


def test_refined_gaits_can_be_chosen(browser: Browser, tmp_path) -> None:
    gaits, file, damage = short_gaits(6), tmp_path / "gaits.h5", "right_rear:lost"
    thresholds = np.full_like(gaits.thresholds, -np.inf)
    write_repertoire(file, replace(gaits, spread=None, thresholds=thresholds))
    save_rehearsal(RunFiles(file).rehearsal, gaits, [damage, "left_front:dead"], episodes=1)
    few = RecoveryRequest(trials=2, think_episodes=60, refine=100, confirmations=0)
    refining = Explorer(file, "gaits", few)
    with Running(explorer=refining) as running, browser.new_page() as page:
        page.goto(running.server.address)
        until(page, "surefoot.views[0]?.recording?.rows")
        page.fill("#text", damage)
        page.keyboard.press("Enter")
        until(page, f"surefoot.views[0].recording.scene.damage === '{damage}'")
        page.click("#recover")
        until(page, "surefoot.recovery.record.trials.length")
        page.click("#skip")
        until(page, "surefoot.recovery.record.result")
        found = page.evaluate("surefoot.recovery.record.result.refined")
        assert [one["label"] for one in found] == page.locator("#refined option").all_text_contents()
        page.select_option("#refined", index=0)
        until(page, "surefoot.views[0].recording.row === 6")
        assert "refined gait 1" in page.inner_text("figcaption >> nth=0")
        page.click("#repair")
        until(page, "surefoot.views[0].recording.row === 6 && !surefoot.views[0].recording.damage")


def test_a_mistyped_damage_is_told_next_to_its_field(page: Page) -> None:
    page.set_viewport_size({"width": 1000, "height": 500})
    page.fill("#text", "left_frnt:lost")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#wrong').textContent.includes('left_frnt')")
    field, told = (page.locator(name).bounding_box() for name in ("#text", "#wrong"))
    assert 0 < told["y"] - field["y"] < 120
    assert told["y"] + told["height"] <= 500
    assert page.locator("#recover").is_disabled()
    assert page.inner_text("#why") == "Recover needs a robot that is broken: break something first."
    page.fill("#text", DAMAGE)
    page.keyboard.press("Enter")
    until(page, f"surefoot.views[0].recording.scene.damage === '{DAMAGE}'")
    assert page.inner_text("#wrong") == page.inner_text("#why") == ""


def test_the_address_holds_the_gait_and_the_damage(page: Page, running: Running) -> None:
    page.click("#map canvas", position={"x": 200, "y": 200})
    row = page.evaluate("surefoot.archive.row")
    page.fill("#text", DAMAGE)
    page.keyboard.press("Enter")
    until(page, "location.hash.includes('damage')")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    until(page, f"surefoot.views[0]?.recording?.row === {row}")
    assert page.evaluate("surefoot.views[0].recording.damage") == DAMAGE
    page.evaluate("location.hash = 'gait=7'")
    until(page, "surefoot.views[0].recording.row === 7 && !surefoot.views[0].recording.damage")


def test_on_a_phone_the_robot_can_be_broken_below_it(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    robot, breaking = (page.locator(name).bounding_box() for name in ("#views", "#breaking"))
    assert 0 <= breaking["y"] - robot["y"] - robot["height"] < 30
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_click_on_a_leg_removes_it(page: Page) -> None:
    page.click(".play")
    x, y, leg = page.evaluate("""() => {
        const { stage } = surefoot.views[0], box = stage.canvas.getBoundingClientRect();
        stage.camera.updateMatrixWorld();
        for (const mesh of stage.meshes.filter((one) => one.userData.leg)) {
            const at = mesh.getWorldPosition(stage.controls.target.clone()).project(stage.camera);
            const clientX = box.x + (at.x + 1) / 2 * box.width, clientY = box.y + (1 - at.y) / 2 * box.height;
            const leg = stage.legAt({ clientX, clientY });
            if (leg) return [clientX, clientY, leg];
        }
    }""")
    page.mouse.click(x, y)
    until(page, f"surefoot.views[0].recording.scene.damage === '{leg}:lost'")


def test_everything_works_by_keyboard_alone(page: Page) -> None:
    row = page.evaluate("surefoot.archive.row")
    tab_to(page, "#cursor")
    page.keyboard.press("ArrowUp")
    until(page, f"surefoot.archive.row !== {row}")
    tab_to(page, "#best")
    page.keyboard.press("Enter")
    until(page, f"surefoot.archive.row === {row}")
    choose(page, "best-first")
    assert "order of their objectives" in page.inner_text("#about")
    tab_to(page, "#text")
    page.keyboard.type("all:weak@0.5")
    page.keyboard.press("Enter")
    until(page, "surefoot.views[0].recording.scene.damage === 'all:weak@0.5'")
    tab_to(page, "#compare")
    page.keyboard.press("Space")
    until(page, "surefoot.views[1]?.recording?.rows")
    choose(page, "rehearsed")  # which needs no episodes before the first trial
    tab_to(page, "#recover")
    page.keyboard.press("Enter")
    until(page, "surefoot.recovery.record.trials.length")
    tab_to(page, ".play")
    page.keyboard.press("Space")
    assert not page.evaluate("surefoot.views[0].playing")
    tab_to(page, "#skip")
    page.keyboard.press("Enter")
    until(page, "surefoot.recovery.record.result")


def choose(page: Page, selector: str) -> None:
    """Choose a selector by arrow keys: letters typed slowly on a busy machine would choose another one."""
    tab_to(page, "#selector")
    page.keyboard.press("Home")
    for _ in range(30):
        if page.input_value("#selector") == selector:
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"arrow keys do not lead to {selector}")


def tab_to(page: Page, place: str) -> None:
    """Press Tab until something has the focus."""
    for _ in range(60):
        if page.evaluate(f"document.activeElement.matches('{place}')"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {place}")


def test_an_empty_archive_tells_of_no_cell(browser: Browser) -> None:
    explorer = Explorer(repertoire_path("hexapod"), "hexapod")
    whole = explorer.repertoire
    explorer.repertoire = replace(whole, elites=whole.elites.take([]), specialists=None, spread=None)
    explorer.archive = describe_archive(explorer.repertoire)
    with Running(explorer=explorer) as running:
        page = browser.new_page()
        page.goto(running.server.address)
        until(page, "surefoot.archive")
        page.hover("#map canvas")
        assert page.inner_text("#cell") == ""
        page.close()


def test_it_is_fast_enough_and_takes_little_memory(page: Page) -> None:
    frames, started = page.evaluate("surefoot.views[0].frames"), time.monotonic()
    until(page, f"surefoot.views[0].frames > {frames + 2 * FRAMES}")
    drawn = 2 * FRAMES / (time.monotonic() - started)
    first = sorted(first_pose(page, x) for x in (120, 160, 200, 240, 280))[2]
    processes = psutil.Process().children(recursive=True)
    memory = sum(one.memory_full_info().pss for one in processes if "chrom" in one.name()) / 1e6
    print(f"{drawn:.0f} frames/s, first pose after {1000 * first:.0f} ms, {memory:.0f} MB")
    assert memory < MEMORY
    if os.getloadavg()[0] > 2 * (os.cpu_count() or 1):
        pytest.skip(f"the machine is busy: {drawn:.0f} frames/s, first pose after {1000 * first:.0f} ms")
    assert drawn >= FRAMES
    assert first < FIRST_POSE


def first_pose(page: Page, x: int) -> float:
    """Time from a click on the map until the gait there is drawn [s], as the page measures it."""
    started = """x => new Promise((drawn) => {
        const map = document.querySelector("#map canvas"), box = map.getBoundingClientRect();
        const [view] = surefoot.views, before = view.recording, start = performance.now();
        map.dispatchEvent(new MouseEvent("click", { clientX: box.x + x, clientY: box.y + 200 }));
        const look = () => view.recording !== before && view.recording.rows
            ? drawn(performance.now() - start) : requestAnimationFrame(look);
        look();
    })"""
    return float(page.evaluate(started, x)) / 1000


def test_without_webgl_the_map_and_the_numbers_are_there(running: Running, browser: Browser) -> None:
    page = browser.new_page()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = (get => function (kind, ...more) {"
                         "return kind.startsWith('webgl') ? null : get.call(this, kind, ...more);"
                         "})(HTMLCanvasElement.prototype.getContext)")  # fmt: skip
    page.goto(running.server.address)
    until(page, "surefoot.views[0]?.recording?.rows > 20")
    assert "no WebGL" in page.inner_text("#notes")
    page.close()


def test_a_page_goes_on_when_its_server_is_there_again(browser: Browser) -> None:
    page = browser.new_page()
    with Running() as running:
        page.goto(running.server.address)
        until(page, "surefoot.views[0]?.recording?.rows > 20")
        port = urlsplit(running.server.address).port
    until(page, "document.querySelector('#status').classList.contains('bad')")
    with Running(port or 0):
        until(page, "document.querySelector('#status').textContent === 'Connected'")
        page.click("#map canvas", position={"x": 100, "y": 100})
        until(page, "surefoot.views[0].recording.rows > 5")
        page.close()


def test_a_mission_plays_back(browser: Browser, tmp_path) -> None:
    file = short_mission(tmp_path)
    explorer = Explorer(file, str(file), log=file.with_name("log.jsonl"))
    with Running(explorer=explorer) as running:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(running.server.address)
        until(page, "surefoot.views[0]?.recording?.lane && surefoot.views[0].end > 1")
        change = page.locator("#mission li.change")
        assert DAMAGE in change.first.inner_text()
        torso = "document.querySelector('[data-robot]').getAttribute('transform')"
        first = page.evaluate(torso)
        change.first.get_by_role("button").click()
        until(page, f"surefoot.views[0].time >= 1 && {torso} !== {json.dumps(first)}")
        until(page, "document.querySelector('#mission li[aria-current]')?.matches('.change, .change ~ li')")
        page.click("#best")
        until(page, "!surefoot.views[0].recording.lane")
        mark = page.locator("#path circle[data-time]").first
        place = f"translate({mark.get_attribute('cx')} {mark.get_attribute('cy')})"
        page.evaluate(f"document.querySelector('[data-robot]').setAttribute('transform', '{place}')")
        mark.click()
        until(page, "surefoot.views[0].recording.lane && surefoot.views[0].time >= 1")
        page.close()


def test_an_exported_page_needs_no_server(browser: Browser, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(export, "_MOST_GAITS", 3)
    explorer = Explorer(
        repertoire_path("hexapod"), "hexapod", RecoveryRequest(trials=4, selector="rehearsed")
    )
    export_page(explorer, tmp_path / "page.html", damage=DAMAGE)
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    until(page, "globalThis.surefoot?.views[0]?.recording?.rows > 20")
    page.click("button[type=submit]")
    until(page, f"surefoot.views[0].recording.scene.damage === '{DAMAGE}'")
    page.click("#recover")
    page.click("#skip")
    until(page, "surefoot.recovery.record.result")
    expected = surefoot.recover("hexapod", DAMAGE, trials=4, selector="rehearsed").trials
    assert page.evaluate("surefoot.recovery.record.trials.map(({row}) => row)") == [
        one.row for one in expected
    ]
    page.close()
