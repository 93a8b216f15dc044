// A counter under a supervisor, as a system of your own: `troupe actor run examples/actors/tally.mjs --stdin`, then lines such as
// {"type": "add", "amount": 2}. What it cannot count crashes it, and its supervisor starts it again, from 0: a state is not kept.

const counter = {
	kind: 'Counter',
	init: () => ({state: 0, effects: []}),
	receive(count, {type, amount}) {
		if (type !== 'add') return undefined; // It knows no other message.
		if (!Number.isInteger(amount)) throw new Error(`${amount} is no whole number`);
		return {state: count + amount, effects: [{type: 'print', text: `${count} + ${amount} is ${count + amount}`}]};
	},
	describe: count => `at ${count}`,
};

/** Its child is below it: `troupe://tally@ann/main/counter`. */
const supervisor = {
	kind: 'Supervisor',
	init: () => ({state: null, effects: [{type: 'spawn', name: 'counter', behavior: 'counter'}]}),
	receive: (state, message, {self}) => ({state, effects: [{type: 'tell', to: `${self}/counter`, message}]}),
};

export const behaviors = {supervisor, counter};
export const root = 'supervisor';
