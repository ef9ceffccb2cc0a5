"""How full the GPUs of this machine are, read without a CUDA context: `open_meter()`, then `read()` at will."""

from .meter import Meter, NoMeter, open_briefly, open_meter
from .reading import Device, DeviceReading, Holder, Reading

__all__ = ["Device", "DeviceReading", "Holder", "Meter", "NoMeter", "Reading", "open_briefly", "open_meter"]
