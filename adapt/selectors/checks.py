"""Checks of settings."""

from robots.errors import InvalidValueError


def check_positive(**settings: float) -> None:
    """Refuse settings that are not positive and finite.

    Raises:
        InvalidValueError: one is not.
    """
    for name, value in settings.items():
        if not 0 < value < float("inf"):
            raise InvalidValueError(f"{name} must be positive and finite, not {value}")


def check_not_negative(**settings: float) -> None:
    """Refuse settings that are negative or not finite.

    Raises:
        InvalidValueError: one is.
    """
    for name, value in settings.items():
        if not 0 <= value < float("inf"):
            raise InvalidValueError(f"{name} must be at least 0 and finite, not {value}")


def check_shares(**settings: float) -> None:
    """Refuse settings that are not from 0 to 1.

    Raises:
        InvalidValueError: one is not.
    """
    for name, value in settings.items():
        if not 0 <= value <= 1:
            raise InvalidValueError(f"{name} must be from 0 to 1, not {value}")


def check_probabilities(**settings: float) -> None:
    """Refuse settings that are not from 0 to less than 1.

    Raises:
        InvalidValueError: one is not.
    """
    for name, value in settings.items():
        if not 0 <= value < 1:
            raise InvalidValueError(f"{name} must be a probability below 1, not {value}")
