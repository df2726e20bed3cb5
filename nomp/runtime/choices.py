"""What chooses where scripts leave a choice, for who does not want to import it where there is nothing to choose.

In: the settings and the device.  Out: a `Tuning`, or None.  Used by `runtime.session`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nomp import cache
from nomp.backend import DeviceInfo
from nomp.config import Settings
from nomp.runtime.shown import show

if TYPE_CHECKING:
    from nomp.runtime.tuning import Tuning


def tuning(settings: Settings, device: DeviceInfo) -> Tuning | None:
    """It, if something has been, or is to be, measured."""
    where = cache.tuning_folder(settings)
    if where is None or not (settings.tune != "off" or where.is_dir()):
        return None
    from nomp.runtime.tuning import Tuning
    from nomp.tuning.database import Database

    return Tuning(settings, device, Database(where, lambda problem: show([problem], settings)))
