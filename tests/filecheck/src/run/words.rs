//! The syntax of a RUN line: words with quotes, pipes and redirections, as a shell would read them.

/// Commands of a pipe: each reads the output of the previous one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pipeline {
    pub(crate) commands: Vec<Command>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) words: Vec<String>,
    /// In the order in which they are done.
    pub(crate) redirections: Vec<Redirection>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Redirection {
    /// Standard input comes from a file.
    Input(String),
    /// A stream goes to a file.
    File { stream: Stream, path: String, append: bool },
    /// A stream goes where the other one goes now.
    Copy { stream: Stream },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// A word, or an operator without a word before it.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Pipe,
    And,
    Operator { stream: Option<Stream>, kind: Operator },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Read,
    Write,
    Append,
    /// `>&`, with the number of a stream after it.
    Copy,
}

/// Reads a line into pipelines, which are separated by `&&`.
pub(crate) fn parse_line(line: &str) -> Result<Vec<Pipeline>, String> {
    let mut pipelines = Vec::new();
    let mut pipeline = Pipeline::default();
    let mut command = Command::default();
    let mut tokens = tokens(line)?.into_iter();
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) => command.words.push(word),
            Token::Pipe => pipeline.commands.push(finish(&mut command)?),
            Token::And => {
                pipeline.commands.push(finish(&mut command)?);
                pipelines.push(std::mem::take(&mut pipeline));
            }
            Token::Operator { stream, kind } => {
                let Some(Token::Word(target)) = tokens.next() else {
                    return Err("nothing follows a redirection".to_owned());
                };
                command.redirections.push(redirection(stream, kind, target)?);
            }
        }
    }
    pipeline.commands.push(finish(&mut command)?);
    pipelines.push(pipeline);
    Ok(pipelines)
}

fn finish(command: &mut Command) -> Result<Command, String> {
    if command.words.is_empty() {
        return Err("a command is missing".to_owned());
    }
    Ok(std::mem::take(command))
}

fn redirection(stream: Option<Stream>, kind: Operator, target: String) -> Result<Redirection, String> {
    Ok(match kind {
        Operator::Read if stream.is_none() => Redirection::Input(target),
        Operator::Read => return Err("only standard input can be read".to_owned()),
        Operator::Write | Operator::Append => Redirection::File {
            stream: stream.unwrap_or(Stream::Out),
            path: target,
            append: kind == Operator::Append,
        },
        Operator::Copy => {
            let stream = stream.unwrap_or(Stream::Out);
            let other = match stream {
                Stream::Out => "2",
                Stream::Err => "1",
            };
            if target != other {
                return Err(format!("`>&{target}` is not supported; there are `2>&1` and `>&2`"));
            }
            Redirection::Copy { stream }
        }
    })
}

fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut chars = line.chars().peekable();
    // The word being read; one that is empty but quoted is a word, too.
    let mut word: Option<String> = None;
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => tokens.extend(word.take().map(Token::Word)),
            '\'' => {
                quoted = true;
                let text = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or("a `'` is not closed")? {
                        '\'' => break,
                        c => text.push(c),
                    }
                }
            }
            '"' => {
                quoted = true;
                let text = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or("a `\"` is not closed")? {
                        '"' => break,
                        '\\' if matches!(chars.peek(), Some('"' | '\\')) => text.extend(chars.next()),
                        c => text.push(c),
                    }
                }
            }
            '\\' => {
                quoted = true;
                let escaped = chars.next().ok_or("a `\\` stands at the end")?;
                word.get_or_insert_default().push(escaped);
            }
            '|' | ';' | '&' => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(match (c, chars.next_if_eq(&c).is_some()) {
                    ('|', false) => Token::Pipe,
                    ('&', true) => Token::And,
                    (c, _) => {
                        return Err(format!(
                            "`{c}` is not supported here; quote it, or use another RUN line"
                        ));
                    }
                });
            }
            '`' | '$' => return Err(format!("`{c}` is not supported: no shell is involved; quote it")),
            '<' | '>' => {
                // `2>` is an operator, `a2>` and `"2">` are a word and an operator.
                let stream = match word.take() {
                    Some(number) if number == "1" && !quoted => Some(Stream::Out),
                    Some(number) if number == "2" && !quoted => Some(Stream::Err),
                    before => {
                        tokens.extend(before.map(Token::Word));
                        None
                    }
                };
                let kind = match c {
                    '<' => Operator::Read,
                    _ if chars.next_if_eq(&'>').is_some() => Operator::Append,
                    _ if chars.next_if_eq(&'&').is_some() => Operator::Copy,
                    _ => Operator::Write,
                };
                tokens.push(Token::Operator { stream, kind });
            }
            c => word.get_or_insert_default().push(c),
        }
        quoted &= word.is_some();
    }
    tokens.extend(word.take().map(Token::Word));
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        let mut pipelines = parse_line(line).unwrap();
        assert_eq!(pipelines.len(), 1);
        assert_eq!(pipelines[0].commands.len(), 1);
        pipelines.remove(0).commands.remove(0).words
    }

    #[test]
    fn quotes() {
        assert_eq!(
            words(r#"a 'b c' "d \"e\" \n" f\ g'' "" x'|'y"#),
            ["a", "b c", "d \"e\" \\n", "f g", "", "x|y"]
        );
        for wrong in [
            "'a", "\"a", "a\\", "a; b", "a || b", "a & b", "$(a)", "`a`", "", "a |", "| a", "a && ", "a >",
        ] {
            assert!(parse_line(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pipes() {
        let pipelines = parse_line("a b|c && d | e|f").unwrap();
        let names = |p: &Pipeline| p.commands.iter().map(|c| c.words.join(" ")).collect::<Vec<_>>();
        assert_eq!(names(&pipelines[0]), ["a b", "c"]);
        assert_eq!(names(&pipelines[1]), ["d", "e", "f"]);
    }

    #[test]
    fn redirections() {
        let line = parse_line("a <in 2>&1 >out x2> both 2>> more >&2 > '2'").unwrap();
        let command = &line[0].commands[0];
        assert_eq!(command.words, ["a", "x2"]);
        let file = |stream, path: &str, append| Redirection::File {
            stream,
            path: path.to_owned(),
            append,
        };
        assert_eq!(
            command.redirections,
            [
                Redirection::Input("in".to_owned()),
                Redirection::Copy { stream: Stream::Err },
                file(Stream::Out, "out", false),
                file(Stream::Out, "both", false),
                file(Stream::Err, "more", true),
                Redirection::Copy { stream: Stream::Out },
                file(Stream::Out, "2", false),
            ]
        );
        assert!(parse_line("a 2>&3").is_err());
        assert!(parse_line("a 2<b").is_err());
    }
}
