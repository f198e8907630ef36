//! Optimizer steps, in double precision. Numbers that PaddlePaddle stores in single precision are rounded to it.

use std::array::from_fn;
use std::cmp::Ordering;

use pir_dialects::pd;
use smallvec::SmallVec;

use super::{Inputs, Kernel, Outputs, Prepare, Spec};
use crate::tensor::buffer::{gathered, one};
use crate::tensor::{DType, Storage, Tensor};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::SgdInplace::NAME, |s| {
        kernel(s, &[], |state| {
            let rate = state.number("learning_rate")?;
            state.each(["param", "grad"], |[p, g]| *p -= rate * *g)
        })
    }),
    (pd::MomentumInplace::NAME, momentum),
    (pd::AdamInplace::NAME, |s| adam(s, 0.0)),
    (pd::AdamwInplace::NAME, |s| {
        // PaddlePaddle's devices differ: a CPU scales only the decay, others also the step.
        if s.float("lr_ratio", 1.0) != 1.0 {
            return Err("`lr_ratio` other than 1 is not supported".to_owned());
        }
        let decay = if s.flag("with_decay", false) {
            single(s.float("coeff", 0.01))
        } else {
            0.0
        };
        adam(s, decay)
    }),
    (pd::AdagradInplace::NAME, |s| {
        let epsilon = single(s.float("epsilon", 1e-6));
        kernel(s, &[], move |state| {
            let rate = state.number("learning_rate")?;
            state.each(["param", "grad", "moment"], |[p, g, m]| {
                *m += *g * *g;
                *p -= rate * *g / (m.sqrt() + epsilon);
            })
        })
    }),
    (pd::RmspropInplace::NAME, rmsprop),
    (pd::AdadeltaInplace::NAME, |s| {
        let (rho, epsilon) = (single(s.float("rho", 0.95)), single(s.float("epsilon", 1e-6)));
        kernel(s, &[], move |state| {
            let rate = state.number("learning_rate")?;
            let names = ["param", "grad", "avg_squared_grad", "avg_squared_update"];
            state.each(names, |[p, g, grads, updates]| {
                *grads = rho * *grads + (1.0 - rho) * *g * *g;
                let update = -((*updates + epsilon) / (*grads + epsilon)).sqrt() * *g;
                *updates = rho * *updates + (1.0 - rho) * update * update;
                *p += rate * update;
            })
        })
    }),
    (pd::AdamaxInplace::NAME, |s| {
        let number = |name, usual| single(s.float(name, usual));
        let (beta1, beta2, epsilon) = (number("beta1", 0.9), number("beta2", 0.999), number("epsilon", 1e-8));
        kernel(s, &[], move |state| {
            let rate = state.number("learning_rate")? / (1.0 - state.number("beta1_pow")?);
            state.each(["param", "grad", "moment", "inf_norm"], |[p, g, m, most]| {
                *m = beta1 * *m + (1.0 - beta1) * *g;
                *most = g.abs().max(beta2 * *most + epsilon);
                *p -= rate * *m / *most;
            })
        })
    }),
    (pd::LambInplace::NAME, lamb),
    (pd::NadamInplace::NAME, |s| {
        let number = |name, usual| single(s.float(name, usual));
        let (beta1, beta2, epsilon) = (number("beta1", 0.9), number("beta2", 0.999), number("epsilon", 1e-8));
        let decay = number("momentum_decay", 0.004);
        kernel(s, &[], move |state| {
            /// The factor by which the momentum grows less in each step.
            const GROWTH: f64 = 0.96;
            let rate = state.number("learning_rate")?;
            let momentum = |growth: f64| beta1 * (1.0 - 0.5 * growth.powf(decay));
            let names = [
                "param",
                "grad",
                "moment1",
                "moment2",
                "momentum_decay_pow",
                "beta2_pow",
                "mu_product",
            ];
            state.each(names, |[p, g, m, v, growth, b2, product]| {
                *growth *= GROWTH;
                *b2 *= beta2;
                let (now, next) = (momentum(*growth), momentum(*growth * GROWTH));
                *product *= now;
                *m = beta1 * *m + (1.0 - beta1) * *g;
                *v = beta2 * *v + (1.0 - beta2) * *g * *g;
                let mean = next * *m / (1.0 - *product * next) + (1.0 - now) * *g / (1.0 - *product);
                *p -= rate * mean / ((*v / (1.0 - *b2)).sqrt() + epsilon);
            })
        })
    }),
    (pd::RadamInplace::NAME, |s| {
        let number = |name, usual| single(s.float(name, usual));
        let (beta1, beta2, epsilon) = (number("beta1", 0.9), number("beta2", 0.999), number("epsilon", 1e-8));
        kernel(s, &[], move |state| {
            let rate = state.number("learning_rate")?;
            let most = 2.0 / (1.0 - beta2) - 1.0;
            let names = ["param", "grad", "moment1", "moment2", "beta1_pow", "beta2_pow", "rho"];
            state.each(names, |[p, g, m, v, b1, b2, rho]| {
                *b1 *= beta1;
                *b2 *= beta2;
                // `t β^t / (1 - β^t)` in step t.
                *rho = (*rho * (beta2 - *b2) + *b2) / (1.0 - *b2);
                *m = beta1 * *m + (1.0 - beta1) * *g;
                *v = beta2 * *v + (1.0 - beta2) * *g * *g;
                let length = most - 2.0 * *rho;
                let part = (length - 4.0) * (length - 2.0) * most / ((most - 4.0) * (most - 2.0) * length);
                let size = match length > 5.0 {
                    true => (1.0 - *b2).sqrt() / (v.sqrt() + epsilon) * part.sqrt(),
                    false => 1.0,
                };
                *p -= rate * *m / (1.0 - *b1) * size;
            })
        })
    }),
    (pd::AsgdInplace::NAME, |s| {
        kernel(s, &[], |state| {
            let rate = state.number("learning_rate")? / state.number("n")?;
            state.each(["param", "grad", "d", "y"], |[p, g, sum, last]| {
                *sum += *g - *last;
                *last = *g;
                *p -= rate * *sum;
            })
        })
    }),
    (pd::RpropInplace::NAME, |s| {
        kernel(s, &[], |state| {
            let ([least, most], [shrink, grow]) = (state.pair("learning_rate_range")?, state.pair("etas")?);
            state.each(["param", "grad", "prev", "learning_rate"], |[p, g, before, rate]| {
                let same = *g * *before;
                let (factor, slope) = match same.partial_cmp(&0.0) {
                    Some(Ordering::Greater) => (grow, *g),
                    Some(Ordering::Less) => (shrink, 0.0),
                    _ => (1.0, *g),
                };
                *rate = (*rate * factor).clamp(least.min(most), most.max(least));
                *p -= if slope == 0.0 { 0.0 } else { slope.signum() * *rate };
                *before = slope;
            })
        })
    }),
];

/// Rounds a number that PaddlePaddle stores as a `float`.
fn single(value: f64) -> f64 {
    f64::from(value as f32)
}

/// The operands of a step, by name. A step updates them in place; `param` is the parameter, or its copy in higher
/// precision if there is one.
struct State {
    tensors: SmallVec<[(&'static str, Storage<f64>); 12]>,
}

impl State {
    fn has(&self, name: &str) -> bool {
        self.tensors.iter().any(|(n, _)| *n == name)
    }

    /// An operand of one element.
    fn number(&self, name: &str) -> Result<f64, String> {
        let tensor = self.tensors.iter().find(|(n, _)| *n == name);
        match tensor.map(|(_, values)| &values[..]) {
            Some(&[value]) => Ok(value),
            Some(_) => Err(format!("`{name}` is not a single number")),
            None => Err(format!("`{name}` is missing")),
        }
    }

    /// An operand of two elements.
    fn pair(&self, name: &str) -> Result<[f64; 2], String> {
        let tensor = self.tensors.iter().find(|(n, _)| *n == name);
        let pair = tensor.and_then(|(_, values)| values[..].try_into().ok());
        pair.ok_or_else(|| format!("`{name}` must be two numbers"))
    }

    /// Updates tensors element by element.
    fn each<const N: usize>(&mut self, names: [&str; N], mut f: impl FnMut(&mut [f64; N])) -> Result<(), String> {
        let mut taken: SmallVec<[(&'static str, Storage<f64>); 5]> = SmallVec::new();
        for name in names {
            let at = self.tensors.iter().position(|(n, _)| *n == name);
            taken.push(
                self.tensors
                    .swap_remove(at.ok_or_else(|| format!("`{name}` is missing"))?),
            );
        }
        let count = taken.first().map_or(0, |(_, values)| values.len());
        if let Some((name, _)) = taken.iter().find(|(_, values)| values.len() != count) {
            return Err(format!("the shape of `{name}` differs from that of `{}`", names[0]));
        }
        for i in 0..count {
            let mut row: [f64; N] = from_fn(|at| taken[at].1[i]);
            f(&mut row);
            row.into_iter()
                .zip(&mut taken)
                .for_each(|(value, (_, values))| values[i] = value);
        }
        self.tensors.extend(taken);
        Ok(())
    }
}

/// The operands of all steps, as named in the op table.
const NAMES: &[&str] = &[
    "param",
    "grad",
    "learning_rate",
    "velocity",
    "moment",
    "moment1",
    "moment2",
    "moment2_max",
    "beta1_pow",
    "beta2_pow",
    "inf_norm",
    "mean_square",
    "mean_grad",
    "avg_squared_grad",
    "avg_squared_update",
    "master_param",
    "skip_update",
    "momentum_decay_pow",
    "mu_product",
    "rho",
    "d",
    "y",
    "n",
    "prev",
    "learning_rate_range",
    "etas",
];

/// The kernel of a step, with a result `x_out` for each operand `x` that it updates. `scalars` are numbers that may be
/// operands, with their defaults.
fn kernel(
    s: &Spec<'_>,
    scalars: &[(&'static str, f64)],
    step: impl Fn(&mut State) -> Result<(), String> + Send + Sync + 'static,
) -> Result<Kernel, String> {
    let def = s.view.def().ok_or("it is not defined")?;
    let places: Vec<(&'static str, usize)> = NAMES
        .iter()
        .filter_map(|name| Some((*name, s.place(def.operands.iter().position(|o| o.name == *name)?)?)))
        .collect();
    let place = |name: &str| places.iter().find(|(n, _)| *n == name).map(|&(_, at)| at);
    for (flag, operand) in [("multi_precision", "master_param"), ("amsgrad", "moment2_max")] {
        if s.flag(flag, false) != place(operand).is_some() {
            return Err(format!("`{flag}` and the operand `{operand}` must be given together"));
        }
    }
    if s.flag("centered", false) && place("mean_grad").is_none() {
        return Err("`centered` needs the operand `mean_grad`".to_owned());
    }
    let outputs: Vec<usize> = def
        .results
        .iter()
        .filter_map(|spec| place(spec.name.strip_suffix("_out")?))
        .collect();
    let scalars: Vec<(&'static str, Result<usize, f64>)> = scalars
        .iter()
        .map(|&(name, usual)| (name, s.operand_called(name).ok_or_else(|| s.float(name, usual))))
        .collect();
    let master = place("master_param");
    Ok(Box::new(move |inputs: Inputs| {
        let input = |at: usize| inputs.get(at).ok_or("an operand is missing");
        let mut state = State {
            tensors: SmallVec::new(),
        };
        for &(name, at) in &places {
            // The step computes with the copy in higher precision.
            let from = if name == "param" { master.unwrap_or(at) } else { at };
            if name != "master_param" {
                state.tensors.push((name, input(from)?.own_doubles()?));
            }
        }
        let wide = input(master.unwrap_or(0))?.dtype() == DType::F64;
        for &(name, from) in &scalars {
            let value = match from {
                Ok(at) => input(at)?.to_f64().first().copied().ok_or("a number is missing")?,
                Err(value) => value,
            };
            let value = if wide { value } else { single(value) };
            state.tensors.push((name, one(value)));
        }
        if !(state.has("skip_update") && state.number("skip_update")? != 0.0) {
            step(&mut state)?;
        }
        let mut results = Outputs::new();
        for &at in &outputs {
            let (old, is_param) = (input(at)?, at == 0 || Some(at) == master);
            let name = places
                .iter()
                .find(|(_, place)| *place == at)
                .map_or("", |(name, _)| name);
            let name = if is_param { "param" } else { name };
            let values = state.tensors.iter().find(|(n, _)| *n == name).map(|(_, values)| values);
            let values = gathered(values.ok_or("a result is missing")?.iter().copied())?;
            results.push(Tensor::of(old.shape(), values)?.cast(old.dtype())?);
        }
        Ok(results)
    }))
}

fn momentum(s: &Spec<'_>) -> Result<Kernel, String> {
    let number = |name, usual| single(s.float(name, usual));
    let mu = number("mu", 0.0);
    // PaddlePaddle's CPU kernel ignores it, the others do not.
    if s.float("rescale_grad", 1.0) != 1.0 {
        return Err("`rescale_grad` other than 1 is not supported".to_owned());
    }
    let decay = match s.text("regularization_method", "") {
        "l2_decay" => number("regularization_coeff", 0.0),
        "" => 0.0,
        other => {
            return Err(format!(
                "`regularization_method` must be `l2_decay` or empty, not `{other}`"
            ));
        }
    };
    let nesterov = s.flag("use_nesterov", false);
    kernel(s, &[], move |state| {
        let rate = state.number("learning_rate")?;
        state.each(["param", "grad", "velocity"], |[p, g, v]| {
            let grad = *g + decay * *p;
            *v = mu * *v + grad;
            *p -= rate * if nesterov { grad + mu * *v } else { *v };
        })
    })
}

fn rmsprop(s: &Spec<'_>) -> Result<Kernel, String> {
    let number = |name, usual| single(s.float(name, usual));
    let (rho, epsilon, momentum) = (number("decay", 0.9), number("epsilon", 1e-10), number("momentum", 0.0));
    let centered = s.flag("centered", false);
    kernel(s, &[], move |state| {
        let rate = state.number("learning_rate")?;
        let mean = |old: f64, new: f64| rho * old + (1.0 - rho) * new;
        state.each(["grad", "mean_square"], |[g, square]| *square = mean(*square, *g * *g))?;
        if centered {
            state.each(["grad", "mean_grad"], |[g, average]| *average = mean(*average, *g))?;
        }
        let step = |p: &mut f64, g: f64, m: &mut f64, spread: f64| {
            *m = momentum * *m + rate * g / (spread + epsilon).sqrt();
            *p -= *m;
        };
        match centered {
            true => state.each(
                ["param", "grad", "moment", "mean_square", "mean_grad"],
                |[p, g, m, square, average]| step(p, *g, m, *square - *average * *average),
            ),
            false => state.each(["param", "grad", "moment", "mean_square"], |[p, g, m, square]| {
                step(p, *g, m, *square)
            }),
        }
    })
}

/// The moving averages of a gradient and of its square.
fn moments(state: &mut State, beta1: f64, beta2: f64) -> Result<(), String> {
    state.each(["grad", "moment1", "moment2"], |[g, first, second]| {
        *first = beta1 * *first + (1.0 - beta1) * *g;
        *second = beta2 * *second + (1.0 - beta2) * *g * *g;
    })
}

/// Adam, after multiplying the parameter by one minus the learning rate times `decay`.
fn adam(s: &Spec<'_>, decay: f64) -> Result<Kernel, String> {
    let (amsgrad, global) = (s.flag("amsgrad", false), s.flag("use_global_beta_pow", false));
    let scalars = [("beta1", 0.9), ("beta2", 0.999), ("epsilon", 1e-8)];
    kernel(s, &scalars, move |state| {
        let (beta1, beta2) = (state.number("beta1")?, state.number("beta2")?);
        let (power1, power2) = (state.number("beta1_pow")?, state.number("beta2_pow")?);
        let rate = state.number("learning_rate")?;
        let kept = 1.0 - rate * decay;
        let root = (1.0 - power2).sqrt();
        let (rate, epsilon) = (rate * root / (1.0 - power1), state.number("epsilon")? * root);
        moments(state, beta1, beta2)?;
        let second = if amsgrad { "moment2_max" } else { "moment2" };
        if amsgrad {
            state.each(["moment2", "moment2_max"], |[now, most]| *most = now.max(*most))?;
        }
        state.each(["param", "moment1", second], |[p, first, second]| {
            *p = *p * kept - rate * (*first / (second.sqrt() + epsilon));
        })?;
        if !global {
            state.each(["beta1_pow"], |[power]| *power *= beta1)?;
            state.each(["beta2_pow"], |[power]| *power *= beta2)?;
        }
        Ok(())
    })
}

fn lamb(s: &Spec<'_>) -> Result<Kernel, String> {
    let number = |name, usual| single(s.float(name, usual));
    let (beta1, beta2, epsilon) = (number("beta1", 0.9), number("beta2", 0.999), number("epsilon", 1e-6));
    let decay = number("weight_decay", 0.0);
    let adapt = decay > 0.0 || s.flag("always_adapt", false);
    kernel(s, &[], move |state| {
        let bias = [1.0 - state.number("beta1_pow")?, 1.0 - state.number("beta2_pow")?];
        let rate = state.number("learning_rate")?;
        moments(state, beta1, beta2)?;
        let step =
            |p: f64, first: f64, second: f64| first / bias[0] / ((second / bias[1]).sqrt() + epsilon) + decay * p;
        let names = ["param", "moment1", "moment2"];
        let (mut param_norm, mut step_norm) = (0.0, 0.0);
        state.each(names, |&mut [p, first, second]| {
            param_norm += p * p;
            step_norm += step(p, first, second).powi(2);
        })?;
        let ratio = match adapt && param_norm > 0.0 && step_norm > 0.0 {
            true => (param_norm / step_norm).sqrt(),
            false => 1.0,
        };
        state.each(names, |[p, first, second]| {
            *p -= rate * ratio * step(*p, *first, *second)
        })?;
        state.each(["beta1_pow"], |[power]| *power *= beta1)?;
        state.each(["beta2_pow"], |[power]| *power *= beta2)
    })
}
