//! Tells Zed how Fencepost's language server is started.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{Command, Extension, LanguageServerId, Result, Worktree, register_extension, serde_json};

struct Fencepost;

impl Extension for Fencepost {
    fn new() -> Self {
        Fencepost
    }

    /// The program that the settings name, else the one on the `PATH` of the project.
    fn language_server_command(&mut self, server: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let settings = LspSettings::for_worktree(server.as_ref(), worktree)?;
        let binary = settings.binary;
        let named = binary.as_ref().and_then(|binary| binary.path.clone());
        let Some(command) = named.or_else(|| worktree.which("fencepost")) else {
            return Err("there is no `fencepost` on the PATH; `lsp.fencepost.binary.path` names one".to_owned());
        };
        let args = binary.and_then(|binary| binary.arguments).unwrap_or_else(|| vec!["lsp".to_owned()]);
        Ok(Command { command, args, env: worktree.shell_env() })
    }

    /// Whether kernels may be run, and with which Python.
    fn language_server_initialization_options(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(server.as_ref(), worktree)?.initialization_options)
    }
}

register_extension!(Fencepost);
