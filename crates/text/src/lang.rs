//! Which language a reader wants.

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lang {
    #[default]
    En,
    Ja,
}

impl Lang {
    /// `--lang` first, then the configuration, then the locale as POSIX reads it.
    pub fn choose<'a>(
        flag: Option<&str>,
        configured: Option<&str>,
        variable: impl Fn(&'static str) -> Option<&'a str>,
    ) -> Self {
        flag.or(configured)
            .or_else(|| ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(variable))
            .map_or(Self::En, Self::of_name)
    }

    /// `ja`, `ja_JP.UTF-8`, `japanese`; everything else is English.
    pub(crate) fn of_name(name: &str) -> Self {
        if name.to_ascii_lowercase().starts_with("ja") { Self::Ja } else { Self::En }
    }
}

/// One message in both languages, with the same data in scope of both.
macro_rules! say {
    ($lang:expr, $en:literal, $ja:literal $(,)?) => {
        match $lang {
            $crate::Lang::En => format!($en),
            $crate::Lang::Ja => format!($ja),
        }
    };
}
pub(crate) use say;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_wins_over_the_locale() {
        let japanese = |name: &'static str| (name == "LANG").then_some("ja_JP.UTF-8");
        assert_eq!(Lang::choose(None, None, japanese), Lang::Ja);
        assert_eq!(Lang::choose(Some("en"), None, japanese), Lang::En);
        assert_eq!(Lang::choose(None, Some("en"), japanese), Lang::En);
        let overridden = |name: &'static str| match name {
            "LC_ALL" => Some("C"),
            "LANG" => Some("ja_JP.UTF-8"),
            _ => None,
        };
        assert_eq!(Lang::choose(None, None, overridden), Lang::En);
        assert_eq!(Lang::choose(None, None, |_| None), Lang::En);
    }
}
