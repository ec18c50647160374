//! Colours, for terminals only.

use std::io::{IsTerminal, stdout};

use super::args::Colour;

/// How a piece of text is shown.
#[derive(Clone, Copy)]
pub enum Style {
    Bold,
    Dim,
    Good,
    Doubt,
    Bad,
    Frame,
}

/// Colours text, or leaves it alone.
#[derive(Clone, Copy)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Decides for stdout. `NO_COLOR` and `CLICOLOR_FORCE` count when set to anything.
    pub fn stdout(choice: Colour) -> Paint {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let on = match choice {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto if set("NO_COLOR") => false,
            Colour::Auto if set("CLICOLOR_FORCE") => true,
            Colour::Auto => stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        };
        Paint { on }
    }

    /// For files.
    pub fn off() -> Paint {
        Paint { on: false }
    }

    /// Whether it colours.
    pub fn is_on(self) -> bool {
        self.on
    }

    /// `text` in `style`.
    pub fn text(self, style: Style, text: &str) -> String {
        if !self.on {
            return text.to_owned();
        }
        let code = match style {
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Good => "32",
            Style::Doubt => "33",
            Style::Bad => "31",
            // As annotate-snippets paints the frame of an excerpt.
            Style::Frame => "1;94",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
