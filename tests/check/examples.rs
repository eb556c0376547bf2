//! What doc/examples has of checks, and the plugin of pytest, as one would use them.
