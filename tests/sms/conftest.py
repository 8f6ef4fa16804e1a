from tests.sms.simulator_fixture import simulator

__all__ = ["simulator"]
