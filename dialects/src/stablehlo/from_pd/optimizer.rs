//! Steps of optimizers. What a step keeps in higher precision is refused; numbers are rounded to single precision, as PaddlePaddle's are.

use super::elementwise::like;
use super::hlo::spread;
use super::{Cx, Results, Rows, rows};
use crate::pd::{Expr, Number, Source};

pub(super) const ROWS: Rows = rows! {
    SgdInplace |c, op| {
        plain(c)?;
        vec![op.param() - op.grad() * rate(op.learning_rate(), op.param())]
    };
    MomentumInplace |c, op| {
        plain(c)?;
        let (p, mu) = (op.param(), single(op.param(), op.mu().unwrap_or(0.0)));
        let decay = match &*op.regularization_method() {
            "l2_decay" => op.regularization_coeff(),
            "" => 0.0,
            other => return Err(format!("`regularization_method` is `{other}`")),
        };
        if op.rescale_grad() != 1.0 {
            return Err("`rescale_grad` other than 1 is not supported".to_owned());
        }
        let g = if decay == 0.0 { op.grad() } else { op.grad() + p * single(p, decay) };
        let v = op.velocity() * mu + g;
        let step = if op.use_nesterov() { g + v * mu } else { v };
        vec![p - step * rate(op.learning_rate(), p), v]
    };
    AdamInplace |c, op| adam(c, [op.beta1(), op.beta2(), op.epsilon()], 0.0);
    AdamwInplace |c, op| {
        if op.lr_ratio() != 1.0 {
            return Err("`lr_ratio` other than 1 is not supported".to_owned());
        }
        adam(c, [op.beta1(), op.beta2(), op.epsilon()], if op.with_decay() { op.coeff() } else { 0.0 })
    };
    AdagradInplace |c, op| {
        plain(c)?;
        let (p, g) = (op.param(), op.grad());
        let m = op.moment() + g * g;
        vec![p - g * rate(op.learning_rate(), p) / (m.sqrt() + single(p, op.epsilon())), m]
    };
    AdadeltaInplace |c, op| {
        plain(c)?;
        let (p, g, rho, epsilon) = (op.param(), op.grad(), op.rho(), single(op.param(), op.epsilon()));
        let grads = average(op.avg_squared_grad(), g * g, rho);
        let update = (((op.avg_squared_update() + epsilon) / (grads + epsilon)).sqrt() * g).neg();
        let updates = average(op.avg_squared_update(), update * update, rho);
        vec![p + update * rate(op.learning_rate(), p), grads, updates]
    };
    AdamaxInplace |c, op| {
        plain(c)?;
        let (p, g) = (op.param(), op.grad());
        let power = rate(op.beta1_pow(), p);
        let m = average(op.moment(), g, op.beta1());
        let most = g.abs().maximum(op.inf_norm() * single(p, op.beta2()) + single(p, op.epsilon()));
        vec![p - rate(op.learning_rate(), p) / (like(p, 1.0) - power) * m / most, m, most]
    };
    NadamInplace |c, op| {
        plain(c)?;
        let (p, g) = (op.param(), op.grad());
        let growth = op.momentum_decay_pow() * like(p, 0.96);
        let [now, next] = [growth, growth * like(p, 0.96)].map(|growth| {
            let less = growth.elementwise_pow(like(p, op.momentum_decay())) * like(p, 0.5);
            (like(p, 1.0) - less) * single(p, op.beta1())
        });
        let product = op.mu_product() * now;
        let power = op.beta2_pow() * single(p, op.beta2());
        let (first, second) = (average(op.moment1(), g, op.beta1()), average(op.moment2(), g * g, op.beta2()));
        let one = like(p, 1.0);
        let mean = next * first / (one - product * next) + (one - now) * g / (one - product);
        let step = mean / ((second / (one - power)).sqrt() + single(p, op.epsilon()));
        vec![p - rate(op.learning_rate(), p) * step, growth, power, product, first, second]
    };
    RadamInplace |c, op| {
        plain(c)?;
        let (p, g, one) = (op.param(), op.grad(), like(op.param(), 1.0));
        let (beta1, beta2) = (single(p, op.beta1()), single(p, op.beta2()));
        let (power1, power2) = (op.beta1_pow() * beta1, op.beta2_pow() * beta2);
        let rho = (op.rho() * (beta2 - power2) + power2) / (one - power2);
        let (first, second) = (average(op.moment1(), g, op.beta1()), average(op.moment2(), g * g, op.beta2()));
        let (two, four) = (like(p, 2.0), like(p, 4.0));
        let most = two / (one - beta2) - one;
        let length = most - two * rho;
        let part = (length - four) * (length - two) * most / ((most - four) * (most - two) * length);
        let size = (one - power2).sqrt() / (second.sqrt() + single(p, op.epsilon()));
        let is_long = length.greater_than(like(p, 5.0));
        let size = is_long.select(size * is_long.select(part, one).sqrt(), one);
        vec![p - rate(op.learning_rate(), p) * first / (one - power1) * size, power1, power2, rho, first, second]
    };
    AsgdInplace |c, op| {
        plain(c)?;
        let (p, g) = (op.param(), op.grad());
        let sum = op.d() - op.y() + g;
        vec![p - rate(op.learning_rate(), p) / rate(op.n(), p) * sum, sum, g]
    };
    RpropInplace |c, op| {
        plain(c)?;
        let (p, g, none) = (op.param(), op.grad(), like(op.param(), 0.0));
        let [[least, most], [shrink, grow]] =
            [op.learning_rate_range(), op.etas()].map(|pair| [0, 1].map(|at| rate(pair.cut(0, at, at + 1), p)));
        let same = g * op.prev();
        let (stays, turns) = (same.greater_than(none), same.less_than(none));
        let factor = stays.select(grow, turns.select(shrink, like(p, 1.0)));
        let slope = turns.select(none, g);
        let rates = (op.learning_rate() * factor).maximum(least).minimum(most);
        vec![p - slope.sign() * rates, slope, rates]
    };
    LambInplace |c, op| {
        plain(c)?;
        let (p, g, decay) = (op.param(), op.grad(), op.weight_decay().unwrap_or(0.0));
        let first = average(op.moment1(), g, op.beta1());
        let second = average(op.moment2(), g * g, op.beta2());
        let one = like(p, 1.0);
        let [bias1, bias2] = [op.beta1_pow(), op.beta2_pow()].map(|power| one - rate(power, p));
        let step = first / bias1 / ((second / bias2).sqrt() + single(p, op.epsilon())) + p * single(p, decay);
        let ratio = match decay > 0.0 || op.always_adapt() {
            true => {
                let [own, other] = [p, step].map(|x| (x * x).sum());
                let none = like(own, 0.0);
                let known = own.greater_than(none).logical_and(other.greater_than(none));
                known.select((own / other).sqrt(), like(own, 1.0))
            }
            false => like(p, 1.0),
        };
        let out = p - rate(op.learning_rate(), p) * ratio * step;
        vec![
            out,
            first,
            second,
            op.beta1_pow() * single(op.beta1_pow(), op.beta1()),
            op.beta2_pow() * single(op.beta2_pow(), op.beta2()),
        ]
    };
    RmspropInplace |c, op| {
        plain(c)?;
        let (p, g, rate) = (op.param(), op.grad(), rate(op.learning_rate(), op.param()));
        let square = average(op.mean_square(), g * g, op.decay());
        let mean = op.mean_grad().filter(|_| op.centered()).map(|mean| average(mean, g, op.decay()));
        let spread = mean.map_or(square, |mean| square - mean * mean);
        let m = op.moment() * single(p, op.momentum()) + rate * g / (spread + single(p, op.epsilon())).sqrt();
        let all = [p - m, m, square].into_iter();
        // Without `centered` it stays what it was.
        all.chain(mean.or(op.mean_grad())).collect::<Vec<_>>()
    };
};

/// Neither a copy of the parameter in higher precision nor a step that may be skipped.
fn plain(c: &Cx<'_>) -> Result<(), String> {
    for name in ["master_param", "skip_update"] {
        if c.index_called(name).is_some() {
            return Err(format!("the operand `{name}` is not supported"));
        }
    }
    Ok(())
}

/// A number of one element, for computing with a tensor.
fn rate<'c>(number: Expr<'c>, with: Expr<'c>) -> Expr<'c> {
    spread(
        super::hlo::reshaped(
            super::hlo::converted(number, with.elem().unwrap_or(pir_ir::Type::NONE)),
            &[],
        ),
        with.dims(),
    )
}

/// A constant rounded to single precision.
fn single(x: Expr<'_>, number: f64) -> Expr<'_> {
    like(x, f64::from(number as f32))
}

/// The weighted average of the old and the new value.
fn average<'c>(old: Expr<'c>, new: Expr<'c>, weight: f64) -> Expr<'c> {
    let weight = f64::from(weight as f32);
    old * like(old, weight) + new * like(new, 1.0 - weight)
}

fn adam<'c>(c: &Cx<'c>, numbers: [Number; 3], decay: f64) -> Results<'c> {
    plain(c)?;
    let get = |name: &str| c.index_called(name).map(|at| c.operand_at(at));
    let need = |name: &str| get(name).ok_or_else(|| format!("`{name}` is missing"));
    let flag = |name: &str| c.flag(name).unwrap_or(false);
    let (p, g) = (need("param")?, need("grad")?);
    let powers = [need("beta1_pow")?, need("beta2_pow")?];
    let [beta1, beta2, epsilon] = numbers.map(|number| {
        number
            .constant()
            .ok_or("`beta1`, `beta2` and `epsilon` must be constant")
    });
    let (beta1, beta2, epsilon) = (beta1?, beta2?, epsilon?);
    let one = like(p, 1.0);
    let root = (one - rate(powers[1], p)).sqrt();
    let step = rate(need("learning_rate")?, p);
    let kept = if decay == 0.0 {
        p
    } else {
        p * (one - step * single(p, decay))
    };
    let first = average(need("moment1")?, g, beta1);
    let second = average(need("moment2")?, g * g, beta2);
    let most = get("moment2_max")
        .filter(|_| flag("amsgrad"))
        .map(|most| most.maximum(second));
    let spread = most.unwrap_or(second).sqrt() + single(p, epsilon) * root;
    let out = kept - step * root / (one - rate(powers[0], p)) * (first / spread);
    let next = |power: Expr<'c>, beta: f64| {
        if flag("use_global_beta_pow") {
            power
        } else {
            power * single(power, beta)
        }
    };
    let mut all = vec![out, first, second];
    all.extend(most.or(get("moment2_max")));
    all.extend([next(powers[0], beta1), next(powers[1], beta2)]);
    Ok(all)
}
