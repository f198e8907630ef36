//! The options of the checker, as FileCheck spells them.

/// How a text is checked.
#[derive(Clone, Debug)]
pub struct Options {
    /// What directives begin with.
    pub prefixes: Vec<String>,
    /// What makes the rest of a line a comment.
    pub comment_prefixes: Vec<String>,
    /// A pattern must match whole lines.
    pub match_full_lines: bool,
    /// White space counts.
    pub strict_whitespace: bool,
    /// Letters match in both cases.
    pub ignore_case: bool,
    /// An empty input is not an error in itself.
    pub allow_empty: bool,
    /// Not every prefix has to be in the check file.
    pub allow_unused_prefixes: bool,
    /// Variables without a `$` end at each label.
    pub enable_var_scope: bool,
    /// Patterns that must not match between the directives.
    pub implicit_check_not: Vec<String>,
    /// Variables that are defined from the start; the name of a numeric one begins with `#`.
    pub defines: Vec<(String, String)>,
    /// Whether the prefixes were named, so that each must be found.
    pub(crate) prefixes_given: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            prefixes: vec!["CHECK".to_owned()],
            comment_prefixes: vec!["COM".to_owned(), "RUN".to_owned()],
            match_full_lines: false,
            strict_whitespace: false,
            ignore_case: false,
            allow_empty: false,
            allow_unused_prefixes: false,
            enable_var_scope: false,
            implicit_check_not: Vec::new(),
            defines: Vec::new(),
            prefixes_given: false,
        }
    }
}

/// A parsed command line.
#[derive(Clone, Debug)]
pub struct CommandLine {
    /// The options.
    pub options: Options,
    /// The file with the directives.
    pub check_file: String,
    /// The file to check, when it is not standard input.
    pub input_file: Option<String>,
}

/// Options that take a value, which may be the next argument.
const WITH_VALUE: &[&str] = &[
    "check-prefix",
    "check-prefixes",
    "comment-prefixes",
    "implicit-check-not",
    "input-file",
    "dump-input",
    "dump-input-context",
    "dump-input-filter",
];

impl CommandLine {
    /// Reads arguments, without the name of the program.
    ///
    /// # Errors
    /// If an argument is not known, or no check file is named.
    pub fn parse<S: AsRef<str>>(arguments: &[S]) -> Result<CommandLine, String> {
        let mut options = Options::default();
        let mut prefixes = Vec::new();
        let mut comments = Vec::new();
        let mut check_file = None;
        let mut input_file = None;
        let mut rest = arguments.iter().map(AsRef::as_ref);
        while let Some(argument) = rest.next() {
            if let Some(define) = argument.strip_prefix("-D") {
                let (name, value) = define
                    .split_once('=')
                    .filter(|(name, _)| !name.is_empty())
                    .ok_or_else(|| format!("`{argument}` is not of the form `-DNAME=VALUE`"))?;
                options.defines.push((name.to_owned(), value.to_owned()));
                continue;
            }
            let Some(flag) = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')) else {
                if check_file.replace(argument.to_owned()).is_some() {
                    return Err(format!("`{argument}` is a second check file"));
                }
                continue;
            };
            let (name, given) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (flag, None),
            };
            let value = if WITH_VALUE.contains(&name) {
                given
                    .or_else(|| rest.next())
                    .ok_or_else(|| format!("`--{name}` needs a value"))?
            } else {
                given.unwrap_or("true")
            };
            let on = value != "false" && value != "0";
            match name {
                "check-prefix" | "check-prefixes" => prefixes.extend(list(value)),
                "comment-prefixes" => comments.extend(list(value)),
                "implicit-check-not" => options.implicit_check_not.push(value.to_owned()),
                "input-file" => input_file = Some(value.to_owned()),
                "match-full-lines" => options.match_full_lines = on,
                "strict-whitespace" => options.strict_whitespace = on,
                "ignore-case" => options.ignore_case = on,
                "allow-empty" => options.allow_empty = on,
                "allow-unused-prefixes" => options.allow_unused_prefixes = on,
                "enable-var-scope" => options.enable_var_scope = on,
                "dump-input" | "dump-input-context" | "dump-input-filter" | "color" | "v" | "vv" => {}
                _ => return Err(format!("`{argument}` is an unknown option; see `filecheck-rs --help`")),
            }
        }
        if !prefixes.is_empty() {
            options.prefixes = prefixes;
            options.prefixes_given = true;
        }
        if !comments.is_empty() {
            options.comment_prefixes = comments;
        }
        options.validate()?;
        Ok(CommandLine {
            options,
            check_file: check_file.ok_or("no check file is named")?,
            input_file: input_file.filter(|f| f != "-"),
        })
    }
}

fn list(value: &str) -> impl Iterator<Item = String> {
    value.split(',').map(str::to_owned)
}

impl Options {
    fn validate(&self) -> Result<(), String> {
        let mut seen = Vec::new();
        for prefix in self.prefixes.iter().chain(&self.comment_prefixes) {
            let starts = prefix.starts_with(|c: char| c.is_ascii_alphabetic());
            if !starts
                || !prefix
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
            {
                return Err(format!(
                    "`{prefix}` cannot be a prefix: it must begin with a letter and hold letters, digits, `-` and `_`"
                ));
            }
            if seen.contains(&prefix) {
                return Err(format!("the prefix `{prefix}` is given twice"));
            }
            seen.push(prefix);
        }
        Ok(())
    }
}
