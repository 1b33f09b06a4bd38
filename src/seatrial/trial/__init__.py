"""One test's world: the agent under test with everything around it, and what it did there."""

from seatrial.trial.crash import Crash
from seatrial.trial.opening import open_trial
from seatrial.trial.settings import TrialBroken, TrialInvalid, TrialSettings
from seatrial.trial.trial import Trial

__all__ = ["Crash", "Trial", "TrialBroken", "TrialInvalid", "TrialSettings", "open_trial"]
