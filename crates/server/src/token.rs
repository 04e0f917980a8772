//! The token that opens the door. It lies in the private folder, which no sandboxed agent can read: a socket that
//! only its owner may open would not keep out an agent that runs as the same user.

use std::io;

use camino::Utf8Path;

#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The one that is there, or a new one.
    pub(crate) fn load_or_make(path: &Utf8Path) -> io::Result<Self> {
        match Self::load(path) {
            Ok(token) => Ok(token),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let text = format!("{:032x}{:032x}", dandori_host::random(), dandori_host::random());
                let token = Self(text);
                token.write(path)?;
                Ok(token)
            }
            Err(e) => Err(e),
        }
    }

    pub(crate) fn write(&self, path: &Utf8Path) -> io::Result<()> {
        dandori_host::replace_file(path, self.0.as_bytes(), 0o600)
    }

    pub fn load(path: &Utf8Path) -> io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let text = text.trim();
        if text.len() < 32 { Err(io::Error::from(io::ErrorKind::NotFound)) } else { Ok(Self(text.to_owned())) }
    }

    /// For the client's header.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Takes as long for a wrong token as for the right one.
    pub(crate) fn opens(&self, header: &str) -> bool {
        let Some(given) = header.strip_prefix("Bearer ") else { return false };
        let (given, own) = (given.as_bytes(), self.0.as_bytes());
        given.len() == own.len() && given.iter().zip(own).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}
