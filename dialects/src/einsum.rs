//! The equations of `pd.einsum`, which name the dimensions with letters.

/// A parsed equation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EinsumEquation {
    /// The letters of each operand's dimensions.
    pub inputs: Vec<Vec<char>>,
    /// The letters of the result's dimensions.
    pub output: Vec<char>,
}

impl EinsumEquation {
    /// Parses `ij,jk->ik` for operands of these ranks. Without an arrow, the result has the letters that occur once, in alphabetical
    /// order. The dimensions of `...` get letters that the equation does not have; they are the first of the result without an arrow.
    ///
    /// # Errors
    /// If the equation contains anything other than letters and one `...` in each word, or a letter twice in the result.
    pub fn parse(equation: &str, ranks: impl IntoIterator<Item = usize>) -> Result<EinsumEquation, String> {
        let text: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text.as_str(), None),
        };
        let free: Vec<char> = ('A'..='z')
            .filter(|c| c.is_ascii_alphabetic() && !text.contains(*c))
            .collect();
        let letters = |part: &str| -> Result<Vec<char>, String> {
            match part.chars().find(|c| !c.is_ascii_alphabetic()) {
                Some(c) => Err(format!("`{c}` in `{equation}` is not a letter")),
                None => Ok(part.chars().collect()),
            }
        };
        // Replaces `...` in a word with `more` dimensions, named by the last letters.
        let word = |word: &str, more: Option<usize>| -> Result<Vec<char>, String> {
            let Some((front, back)) = word.split_once("...") else {
                return letters(word);
            };
            let more = more
                .and_then(|more| free.len().checked_sub(more))
                .ok_or_else(|| format!("`...` in `{equation}` stands for no number of dimensions"))?;
            Ok([letters(front)?, free[more..].to_vec(), letters(back)?].concat())
        };
        let (mut inputs, mut most, mut ranks) = (Vec::new(), 0, ranks.into_iter());
        for part in left.split(',') {
            let given = ranks.next();
            let more = given.and_then(|rank| rank.checked_sub(part.chars().filter(|&c| c != '.').count()));
            if part.contains("...") {
                most = most.max(more.unwrap_or(0));
            }
            inputs.push(word(part, more)?);
        }
        let times = |c: char| inputs.iter().flatten().filter(|&&own| own == c).count();
        let output = match right {
            Some(right) => word(right, Some(most))?,
            None => {
                let spread = free[free.len() - most..].to_vec();
                let once = ('A'..='z').filter(|&c| text.contains(c) && times(c) == 1);
                spread.into_iter().chain(once).collect()
            }
        };
        if let Some((at, c)) = output.iter().enumerate().find(|&(at, c)| output[..at].contains(c)) {
            return Err(format!("`{c}` occurs twice in the result of `{equation}`, at {at} too"));
        }
        match output.iter().find(|&&c| times(c) == 0) {
            Some(c) => Err(format!("`{c}` in the result occurs in no operand of `{equation}`")),
            None => Ok(EinsumEquation { inputs, output }),
        }
    }

    /// The letters that are summed over, in order of occurrence.
    pub fn summed(&self) -> Vec<char> {
        let mut out = Vec::new();
        for &c in self.inputs.iter().flatten() {
            if !self.output.contains(&c) && !out.contains(&c) {
                out.push(c);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_read() {
        let parse = |equation, ranks: &[usize]| EinsumEquation::parse(equation, ranks.iter().copied());
        let letters = parse("bij, jk -> bik", &[3, 2]);
        let letters = letters.as_ref().map(|l| (l.inputs.len(), l.output.clone(), l.summed()));
        assert_eq!(letters, Ok((2, vec!['b', 'i', 'k'], vec!['j'])));
        let output = |equation, ranks: &[usize]| parse(equation, ranks).map(|l| l.output.iter().collect::<String>());
        assert_eq!(output("ba,ac", &[2, 2]), Ok("bc".to_owned()));
        assert_eq!(output("ii->i", &[2]), Ok("i".to_owned()));
        assert_eq!(output("ii", &[2]), Ok(String::new()));
        assert_eq!(output("...i,i->...", &[3, 1]), Ok("yz".to_owned()));
        assert_eq!(output("z...,...a", &[2, 3]), Ok("xyaz".to_owned()));
        for wrong in ["i->j", "i..->i", "i->ii", "i1", "...ij"] {
            assert!(parse(wrong, &[1]).is_err(), "{wrong}");
        }
    }
}
