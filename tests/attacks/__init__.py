"""Attacks on the protocol and on agents, played with real keys and real bytes.

An attack is a function that plays it and returns what the attacker got. Each one is played against
version 1's rules and against today's; `table.py` says what must come of it. `python -m attacks`, in
the folder tests, prints what comes of it.
"""
