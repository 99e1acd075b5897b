"""tablectl: the bridge between an automatic riichi-mahjong table and the rest of the world."""

__version__ = "0.1.0"
