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
    /// Parses `ij,jk->ik`. Without an arrow, the result has the letters that occur once, in alphabetical order.
    ///
    /// # Errors
    /// If the equation contains anything other than letters, or a letter twice in one operand.
    pub fn parse(equation: &str) -> Result<EinsumEquation, String> {
        let text: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text.as_str(), None),
        };
        let word = |word: &str| -> Result<Vec<char>, String> {
            let mut letters = Vec::new();
            for c in word.chars() {
                if !c.is_ascii_alphabetic() {
                    return Err(format!("`{c}` in `{equation}` is not a letter"));
                }
                if letters.contains(&c) {
                    return Err(format!("`{c}` occurs twice in `{word}`, which is not supported"));
                }
                letters.push(c);
            }
            Ok(letters)
        };
        let inputs = left.split(',').map(word).collect::<Result<Vec<_>, _>>()?;
        let times = |c: char| inputs.iter().filter(|i| i.contains(&c)).count();
        let output = match right {
            Some(right) => word(right)?,
            None => ('A'..='z').filter(|&c| times(c) == 1).collect(),
        };
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
        let letters = EinsumEquation::parse("bij, jk -> bik");
        let letters = letters.as_ref().map(|l| (l.inputs.len(), l.output.clone(), l.summed()));
        assert_eq!(letters, Ok((2, vec!['b', 'i', 'k'], vec!['j'])));
        let implied = EinsumEquation::parse("ba,ac").map(|l| l.output);
        assert_eq!(implied, Ok(vec!['b', 'c']));
        for wrong in ["ii->i", "i->j", "i...->i", "i->ii"] {
            assert!(EinsumEquation::parse(wrong).is_err(), "{wrong}");
        }
    }
}
