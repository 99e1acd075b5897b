"""`tablectl doctor`: what is wrong with this hall, before the players notice; a fix in each line."""
