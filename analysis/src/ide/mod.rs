//! What editors show, as plain data.
