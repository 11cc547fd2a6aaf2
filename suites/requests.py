"""What recoveries of the suites are to do, unless a user says otherwise: the defaults of their commands."""

from adapt.requests import RecoveryRequest

RECOVERIES = RecoveryRequest(think_episodes=1200, objective="reward", confirmations=0)
TRANSFERS = RecoveryRequest(trials=5, think_episodes=400, confirmations=0)
