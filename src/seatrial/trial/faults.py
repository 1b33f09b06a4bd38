"""What a test orders to fail, wherever that is: at the model's provider, or on Slack."""

from __future__ import annotations

from typing import Any

from seatrial.gateway.faults import ModelFault, ModelFaults
from seatrial.trial.settings import TrialInvalid
from seatrial.trial.slack import SlackSide


class OrderedFaults:
    """The faults of one trial. Each raises TrialInvalid for what the third party would not do."""

    def __init__(self, model: ModelFaults, slack: SlackSide | None) -> None:
        self._model = model
        self._slack = slack

    def of_model(self, **how: Any) -> None:
        """Let the next requests to the model fail; see `seatrial.gateway.faults.ModelFault`."""
        try:
            self._model.order(ModelFault(**how))
        except ValueError as error:
            raise TrialInvalid(str(error)) from error

    def of_slack(self, method: str, **how: Any) -> None:
        """Let the next calls of a method of Slack's fail; see `seatrial.standins.slack.Fault`."""
        if self._slack is None:
            raise TrialInvalid(NOT_ON_SLACK)
        self._slack.order(method, **how)

    def left(self) -> tuple[str, ...]:
        """Name what was to fail and was never asked for."""
        on_slack = () if self._slack is None else self._slack.faults_left()
        return (*on_slack, *map(str, self._model.unused()))


NOT_ON_SLACK = (
    "the agent under test is not on Slack: compose it so (in Python 'agent(slack=True)'); "
    "its binding's agent has to have the methods of 'OnSlack'"
)
