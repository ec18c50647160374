//! Colours, for terminals only.

/// How a piece of text is shown.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the names say it")]
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
pub struct Painter {
    on: bool,
}

impl Painter {
    /// Colours with ANSI escapes if `on`.
    pub fn new(on: bool) -> Painter {
        Painter { on }
    }

    /// Leaves text as it is.
    pub fn plain() -> Painter {
        Painter { on: false }
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
