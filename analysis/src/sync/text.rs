//! Text form (to be written).
