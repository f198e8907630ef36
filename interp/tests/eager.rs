//! The eager engine as a library: tensors, nodes, hooks, versions, higher orders, and the absence of reference cycles.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]
#![allow(
    clippy::cloned_ref_to_slice_refs,
    reason = "`&[x.clone()]` is easier to read, and a clone is a handle"
)]

use std::cell::RefCell;
use std::rc::Rc;

use pir_interp::Tensor as Dense;
use pir_interp::eager::{Engine, GradOptions, Tensor, live};

fn engine() -> Engine {
    Engine::new(pir_dialects::context())
}

fn vector(values: &[f64]) -> Dense {
    Dense::new(&[values.len()], values.to_vec()).unwrap()
}

fn leaf(values: &[f64]) -> Tensor {
    Tensor::leaf(vector(values))
}

fn op(e: &Engine, name: &str, operands: &[&Tensor]) -> Tensor {
    e.apply(name, operands, &[]).unwrap().remove(0)
}

const KEEP: GradOptions<'static> = GradOptions {
    retain_graph: true,
    create_graph: false,
    allow_unused: false,
    no_grad: &[],
};
const CREATE: GradOptions<'static> = GradOptions {
    retain_graph: false,
    create_graph: true,
    allow_unused: false,
    no_grad: &[],
};

#[test]
fn gradients_add_up_in_leaves() {
    let e = engine();
    let (x, y) = (leaf(&[2.0, 3.0]), leaf(&[5.0, 7.0]));
    // x is used three times, once through another operation that y has to wait for.
    let p = op(&e, "pd.multiply", &[&x, &y]);
    let q = op(&e, "pd.multiply", &[&p, &x]);
    let z = op(&e, "pd.add", &[&q, &x]);
    assert!(x.is_leaf() && !z.is_leaf());
    assert!(x.grad().is_none());
    e.backward(&[z.clone()], &[], KEEP).unwrap();
    assert_eq!(x.grad().unwrap().to_f64(), [21.0, 43.0]);
    assert_eq!(y.grad().unwrap().to_f64(), [4.0, 9.0]);
    assert!(p.grad().is_none());
    e.backward(&[z.clone()], &[Some(Tensor::new(vector(&[10.0, 0.0])))], KEEP)
        .unwrap();
    assert_eq!(x.grad().unwrap().to_f64(), [231.0, 43.0]);
    x.set_grad(None);
    e.backward(&[z.clone(), p], &[], GradOptions::default()).unwrap();
    assert_eq!(x.grad().unwrap().to_f64(), [26.0, 50.0]);
    // The saved tensors have been freed.
    let said = e.backward(&[z], &[], GradOptions::default()).unwrap_err();
    assert!(said.contains("pd.") && said.contains("retain_graph"), "{said}");
}

#[test]
fn what_stops_gradients() {
    let e = engine();
    let x = leaf(&[2.0]);
    let constant = Tensor::new(vector(&[4.0]));
    assert!(constant.stop_gradient());
    let z = op(&e, "pd.multiply", &[&x, &constant]);
    e.backward(&[z.clone()], &[], GradOptions::default()).unwrap();
    assert_eq!(x.grad().unwrap().to_f64(), [4.0]);
    assert!(constant.grad().is_none() && constant.grad_node().is_none());
    // Not recorded at all.
    assert!(op(&e, "pd.square", &[&constant]).stop_gradient());
    assert!(e.recording(false, || op(&e, "pd.square", &[&x])).stop_gradient());
    assert!(e.is_recording());
    assert!(op(&e, "pd.square", &[&z.detach()]).stop_gradient());
    assert!(op(&e, "pd.floor", &[&x]).stop_gradient());
    // Stopped in the middle.
    let y = op(&e, "pd.square", &[&x]);
    let w = op(&e, "pd.add", &[&y, &x]);
    let blocked = GradOptions {
        no_grad: &[y.clone()],
        ..GradOptions::default()
    };
    let found = e.grad(&[w], &[x], &[], blocked).unwrap();
    assert_eq!(found[0].as_ref().unwrap().to_f64(), [1.0]);
}

#[test]
fn gradients_of_chosen_inputs() {
    let e = engine();
    let (x, y, unused) = (leaf(&[2.0]), leaf(&[3.0]), leaf(&[1.0]));
    let m = op(&e, "pd.multiply", &[&x, &y]);
    let z = op(&e, "pd.square", &[&m]);
    // With respect to an intermediate value and to one before it.
    let found = e.grad(&[z.clone()], &[m.clone(), x.clone()], &[], KEEP).unwrap();
    let values: Vec<_> = found.iter().map(|g| g.as_ref().unwrap().to_f64()[0]).collect();
    assert_eq!(values, [12.0, 36.0]);
    assert!(x.grad().is_none() && y.grad().is_none());
    // An output with respect to itself.
    let found = e.grad(&[m.clone()], &[m.clone()], &[], KEEP).unwrap();
    assert_eq!(found[0].as_ref().unwrap().to_f64(), [1.0]);
    unused.set_name("w");
    let said = e.grad(&[z.clone()], &[unused.clone()], &[], KEEP).unwrap_err();
    assert!(said.contains("`w`") && said.contains("allow_unused"), "{said}");
    let allowed = GradOptions {
        allow_unused: true,
        ..KEEP
    };
    assert!(e.grad(&[z], &[unused], &[], allowed).unwrap()[0].is_none());
}

#[test]
fn hooks_see_and_replace_gradients() {
    let e = engine();
    let x = leaf(&[2.0]);
    let m = op(&e, "pd.square", &[&x]);
    let z = op(&e, "pd.add", &[&m, &m]);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = |what: &'static str| {
        let seen = seen.clone();
        move |g: &Tensor| -> Option<Tensor> {
            seen.borrow_mut().push((what, g.to_f64()[0]));
            None
        }
    };
    let first = m.register_hook(log("m")).unwrap();
    let doubled = m.register_hook(|_| Some(Tensor::new(vector(&[10.0])))).unwrap();
    m.register_hook(log("again")).unwrap();
    x.register_hook(log("x")).unwrap();
    let outgoing = seen.clone();
    let of_node = m.grad_node().unwrap().register_node_hook(move |grads| {
        let grad = grads[0][0].as_ref().unwrap().to_f64()[0];
        outgoing.borrow_mut().push(("node", grad));
    });
    m.retain_grad().unwrap();
    assert!(m.retains_grad());
    e.backward(&[z.clone()], &[], KEEP).unwrap();
    // The hook of a tensor gets the complete gradient: both edges from the sum.
    assert_eq!(
        *seen.borrow(),
        [("m", 2.0), ("again", 10.0), ("node", 40.0), ("x", 40.0)]
    );
    assert_eq!(m.grad().unwrap().to_f64(), [10.0]);
    assert_eq!(x.grad().unwrap().to_f64(), [40.0]);
    seen.borrow_mut().clear();
    assert!(m.remove_hook(doubled) && m.remove_hook(first) && !m.remove_hook(first));
    assert!(m.grad_node().unwrap().remove_hook(of_node));
    assert!(m.grad_node().unwrap().has_hooks());
    e.backward(&[z], &[], KEEP).unwrap();
    assert_eq!(*seen.borrow(), [("again", 2.0), ("x", 8.0)]);
    assert!(Tensor::new(vector(&[1.0])).register_hook(|_| None).is_err());
}

#[test]
fn slots_and_metas() {
    let e = engine();
    let x = leaf(&[1.0, 2.0, 3.0, 4.0]);
    let ctx = e.ctx();
    let attrs = [("num", ctx.int_attr(2)), ("axis", ctx.int_attr(0))];
    let pieces = e.apply("pd.split_with_num", &[&x], &attrs).unwrap();
    assert_eq!(pieces[1].slot_and_rank(), (1, 0));
    let node = pieces[1].grad_node().unwrap();
    assert_eq!(node.input_meta().len(), 2);
    assert_eq!(node.input_meta()[1][0].shape[..], [2]);
    assert!(node.output_meta()[0][0].edge.is_some());
    // The other piece has no gradient, which means zeros.
    let z = op(&e, "pd.square", &[&pieces[1]]);
    e.backward(&[z], &[], KEEP).unwrap();
    assert_eq!(x.grad().unwrap().to_f64(), [0.0, 0.0, 6.0, 8.0]);
}

#[test]
fn changes_in_place_are_noticed() {
    let e = engine();
    let x = leaf(&[2.0]);
    let two = Tensor::new(vector(&[2.0]));
    let said = e.apply_in_place("pd.multiply", &[&x, &two], &[]).unwrap_err();
    assert!(said.contains("leaf"), "{said}");
    // In place of a tensor whose elements were not saved: the history continues.
    let m = op(&e, "pd.add", &[&x, &two]);
    m.set_name("m");
    e.apply_in_place("pd.multiply", &[&m, &two], &[]).unwrap();
    assert_eq!((m.version(), m.to_f64()), (1, vec![8.0]));
    let z = op(&e, "pd.square", &[&m]);
    e.backward(&[z], &[], KEEP).unwrap();
    assert_eq!(x.grad().unwrap().to_f64(), [32.0]);
    // In place of a saved tensor.
    let z = op(&e, "pd.square", &[&m]);
    e.apply_in_place("pd.multiply", &[&m, &two], &[]).unwrap();
    let said = e.backward(&[z], &[], KEEP).unwrap_err();
    assert_eq!(
        said,
        "the gradient of `pd.square`: the tensor `m` was saved at version 1, and has been changed in place since, to version 2"
    );
    // `exp` saves its result, not its operand.
    let n = op(&e, "pd.add", &[&x, &two]);
    let z = op(&e, "pd.exp", &[&n]);
    e.apply_in_place("pd.multiply", &[&n, &two], &[]).unwrap();
    e.backward(&[z.clone()], &[], KEEP).unwrap();
    e.apply_in_place("pd.multiply", &[&z, &two], &[]).unwrap();
    assert!(e.backward(&[z], &[], KEEP).unwrap_err().contains("in place"));
    // Tensors that share elements share the version.
    assert_eq!(n.detach().version(), n.version());
}

#[test]
fn any_order() {
    let e = engine();
    let x = leaf(&[2.0, -1.5]);
    let sq = op(&e, "pd.square", &[&x]);
    let mut at = op(&e, "pd.multiply", &[&sq, &sq]);
    let expected: [fn(f64) -> f64; 5] = [|x| 4.0 * x * x * x, |x| 12.0 * x * x, |x| 24.0 * x, |_| 24.0, |_| 0.0];
    for f in expected {
        let found = e.grad(&[at.clone()], &[x.clone()], &[], CREATE);
        at = match found {
            Ok(found) => found[0].clone().unwrap(),
            Err(said) => {
                // A constant depends on nothing.
                assert!(said.contains("allow_unused"), "{said}");
                Tensor::new(vector(&[0.0, 0.0]))
            }
        };
        let want: Vec<f64> = x.to_f64().into_iter().map(f).collect();
        for (a, b) in at.to_f64().iter().zip(want) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}

#[test]
fn nothing_keeps_itself_alive() {
    let before = live();
    {
        let e = engine();
        let x = leaf(&[0.5, 0.25]);
        let kept = op(&e, "pd.tanh", &[&x]);
        // The gradient of a leaf that has the leaf in its history, a retained gradient, and hooks.
        let prod = e.apply("pd.prod", &[&kept], &[]).unwrap().remove(0);
        prod.retain_grad().unwrap();
        x.register_hook(|_| None).unwrap();
        e.backward(&[prod.clone()], &[], CREATE).unwrap();
        let grad = x.grad().unwrap();
        let again = op(&e, "pd.square", &[&grad]);
        e.backward(&[again], &[], CREATE).unwrap();
        assert!(!x.grad().unwrap().stop_gradient());
        assert!(live().0 > before.0 && live().1 > before.1);
    }
    assert_eq!(live(), before);
    // Dropping handles early frees the tensors early.
    let e = engine();
    let x = leaf(&[1.0]);
    let now = live();
    let y = op(&e, "pd.exp", &[&op(&e, "pd.sin", &[&x])]);
    assert!(live().1 >= now.1 + 2);
    drop(y);
    // The leaf's node remains.
    assert_eq!(live(), (now.0, now.1 + 1));
}

#[test]
fn a_long_history_is_dropped_and_followed_without_nesting() {
    let e = engine();
    let x = leaf(&[1.0]);
    let mut y = x.clone();
    for _ in 0..40_000 {
        y = op(&e, "pd.assign", &[&y]);
    }
    e.backward(&[y.clone()], &[], GradOptions::default()).unwrap();
    assert_eq!(x.grad().unwrap().to_f64(), [1.0]);
    drop(y);
    assert_eq!(live().1, 1);
}

#[test]
fn seeds_and_unknown_operations_are_checked() {
    let e = engine();
    let x = leaf(&[1.0, 2.0]);
    let y = op(&e, "pd.exp", &[&x]);
    let seed = Tensor::new(vector(&[1.0]));
    assert!(e.backward(&[y], &[Some(seed)], KEEP).unwrap_err().contains("seed"));
    assert!(e.apply("pd.nothing", &[&x], &[]).unwrap_err().contains("pd.nothing"));
    assert!(e.apply("pd.matmul", &[&x], &[]).is_err());
}
