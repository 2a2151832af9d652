"""What the advice of the Python functions means on the command line."""

from fedrank.exceptions import Remedy

FLAGS: dict[str | None, str] = {
    Remedy.NAME_CHOICES: "name the columns with --choices",
    Remedy.OMIT_ITEMS: "leave out --candidates and --choices",
    Remedy.OMIT_KEEP_BLANK: "leave out --keep-blank, or pass --complete",
    Remedy.GENES_IN: "pass --genes-in rows or --genes-in columns",
    Remedy.COMPLETE: "pass --complete, or use --method borda, pivot or kemeny",
    Remedy.REPLACE: "move it away, or pass --replace",
    Remedy.MAX_SAMPLES: "pass a larger --max-samples",
    Remedy.STUDY_TEXT: "make it again with 'fedrank study new', and do not change the file",
    Remedy.IDENTITIES: "pass --party for every client, or leave out --coordinator",
    Remedy.OWN_IDENTITY: "make one for each party with 'fedrank identity new'",
    Remedy.FIGURES: "'fedrank reproduce --list' lists all names",
    Remedy.STATE_MAX_SAMPLES: "pass --max-samples",
    Remedy.LEVELS: "leave out --levels, or pass --send means or --send weighted",
    Remedy.PHI: "leave out --phi, or pass --send centroids",
    Remedy.SUMS: "fedrank federate --send sums",
    Remedy.COMPLETE_CLIENTS: "pass --complete, or use --method borda or kemeny",
    Remedy.COMPLETE_ONLY: "pass --complete",
    Remedy.INSECURE: "add clients, or pass --no-secure",
    Remedy.MIN_SURVIVORS: "add clients, drop fewer, or pass a lower --min-survivors",
    Remedy.THRESHOLD: "drop fewer clients, or pass a lower --threshold",
    Remedy.NEW_STORE: "if its folder was moved, move it back, but never restore a backup; if it "
    "was lost, make a new identity, and agree on new studies; if no agent ever used the key, run "
    "'fedrank agent new-store --config FILE'",
    Remedy.COMMON_ITEMS: "all clients must rank the same items; name those of ballots with "
    "--candidates",
}
"""What the advice of the Python functions means on the command line."""
