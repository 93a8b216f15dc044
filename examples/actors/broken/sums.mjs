// Two workers of which one is slow, and keeps the other waiting. Find out which, and at what: docs/inspector.md, "Finding a bug".
// Run it by `troupe actor run examples/actors/broken/sums.mjs`; it takes {"type": "sum", "numbers": [1, 2, 3]}.

const sums = {
	kind: 'Sums',
	init: () => ({
		state: null,
		effects: ['adder', 'checker'].map(name => ({type: 'spawn', name, behavior: name})),
	}),
	receive: (state, message, {self}) => ({
		state,
		effects: ['checker', 'adder'].map(name => ({type: 'tell', to: `${self}/${name}`, message})),
	}),
};

const adder = {
	kind: 'Adder',
	init: () => ({state: 0}),
	receive: (total, {numbers}) => ({state: total + numbers.reduce((sum, number) => sum + number, 0)}),
	describe: total => `${total} in all`,
};

/** The mistake: it counts up to the sum instead of comparing it. */
const checker = {
	kind: 'Checker',
	init: () => ({state: 0}),
	receive(checked, {numbers}) {
		const sum = numbers.reduce((all, number) => all + number, 0);
		let counted = 0;
		while (counted < sum) counted += 0.001;
		return {state: checked + 1};
	},
	describe: checked => `${checked} checked`,
};

export const behaviors = {sums, adder, checker};
export const root = 'sums';
