"""What a robot works on while it walks."""

from adapt.mission.world import BackgroundSearch, Searches


class Clock:
    """A world that does nothing but search."""

    clock = 0.0

    def search(self, work, seconds: float) -> BackgroundSearch:
        end = self.clock + seconds
        return BackgroundSearch(lambda: self.clock >= end, work)


def test_one_search_follows_the_other() -> None:
    world, found, done = Clock(), list[str](), list[str]()
    searches = Searches(world)
    for name, seconds in (("first", 2.0), ("second", 3.0)):
        searches.add(lambda name=name: done.append(name) or name, seconds, found.append)
    for world.clock, expected, due in ((1.0, 0, False), (2.5, 1, True), (5.0, 1, False), (5.6, 2, True)):
        assert searches.due(1.0) == due
        searches.take_found()
        assert len(found) == expected
    assert found == done == ["first", "second"]
    assert not searches.due(10.0)


def test_what_was_given_up_is_not_begun() -> None:
    world, found = Clock(), list[str]()
    searches = Searches(world)
    searches.add(lambda: "given up", 1.0, found.append)
    searches.add(lambda: "given up, too", 1.0, found.append)
    searches.give_up()
    assert not searches.due(10.0)
    searches.add(lambda: "kept", 1.0, found.append)
    world.clock = 9.0
    searches.take_found()
    assert found == ["kept"]


def test_what_a_search_finds_may_begin_another_one() -> None:
    world, found = Clock(), list[str]()
    searches = Searches(world)
    searches.add(lambda: "first", 1.0, lambda _: searches.add(lambda: "second", 1.0, found.append))
    world.clock = 1.0
    searches.take_found()
    assert not found
    world.clock = 2.0
    searches.take_found()
    assert found == ["second"]
