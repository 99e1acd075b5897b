"""Riichi scoring in pure Python: from tiles and what happened to yaku, fu, points and payments."""
