func.func @f(%a: index, %b: index) { %0 = index.constant 1 return }

// -----

func.func @f(%a: index, %b: index) { %0 = index.add %a, %b return }

// -----

func.func @f(%a: index, %b: index) { %0 = index.cmp slt(%a, %b) return }

// -----

func.func @f(%a: index, %b: index) { %0 = index.castu %a : index to i32 return }

// -----

func.func @f(%a: index, %b: index) { %0 = index.bool.constant true return }

// -----

func.func @f(%a: index, %b: index) { %0 = index.sizeof return }
