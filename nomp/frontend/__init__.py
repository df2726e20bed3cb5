"""Front ends: a source language to typed regions."""
