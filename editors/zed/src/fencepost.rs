//! Tells Zed how Fencepost's language server is started.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::serde_json::{Value, json};
use zed_extension_api::{Command, Extension, LanguageServerId, Result, Worktree, register_extension};

/// The section below which the server asks for its settings.
const SECTION: &str = "fencepost";

struct Fencepost;

impl Extension for Fencepost {
    fn new() -> Self {
        Fencepost
    }

    /// The program that the settings name, else the one on the `PATH` of the project, with the project's environment and
    /// what the settings put over it.
    fn language_server_command(&mut self, server: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let settings = LspSettings::for_worktree(server.as_ref(), worktree)?;
        let binary = settings.binary;
        let (named, arguments, over) = binary.map(|it| (it.path, it.arguments, it.env)).unwrap_or_default();
        let Some(command) = named.or_else(|| worktree.which("fencepost")) else {
            return Err("there is no `fencepost` on the PATH; `lsp.fencepost.binary.path` names one".to_owned());
        };
        let mut env = worktree.shell_env();
        for (name, value) in over.unwrap_or_default() {
            env.retain(|(other, _)| *other != name);
            env.push((name, value));
        }
        Ok(Command { command, args: arguments.unwrap_or_else(|| vec!["lsp".to_owned()]), env })
    }

    /// Whether kernels may be run, and with which Python.
    fn language_server_initialization_options(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(server.as_ref(), worktree)?.initialization_options)
    }

    /// What `fencepost.toml` has, for projects without one.
    fn language_server_workspace_configuration(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        let settings = LspSettings::for_worktree(server.as_ref(), worktree)?.settings;
        Ok(settings.map(|settings| json!({ SECTION: settings })))
    }
}

register_extension!(Fencepost);
