"""The hand and the game: `decide(state, command)` → events or a refusal, `apply(state, event)` → state.

Pure and deterministic: no clock, no random, no input or output. `docs/engine.md` tells the whole story.
"""
