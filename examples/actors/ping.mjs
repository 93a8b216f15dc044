// Asks pong once a second, and prints what it answers: two systems of one login, each a process of its own, that talk over the cluster's broker.
//
// `troupe actor run examples/actors/pong.mjs` in one terminal, `troupe actor run examples/actors/ping.mjs` in another.

const print = text => ({type: 'print', text});
const inASecond = context => ({type: 'wakeAt', name: 'next', atMs: context.nowMs + 1_000, message: {type: 'next'}});

/** `troupe://ping@ann/main` → `troupe://pong@ann/main`: a system is called by its name and its login. */
const pongOf = self => self.replace(/^troupe:\/\/[^@]*@/, 'troupe://pong@');

/** The question carries its number; its answer comes as a message of the type that `as` says. */
function ask(state, context) {
	const round = state.asked + 1;
	const question = {type: 'ask', to: pongOf(context.self), message: {type: 'ping', round}, as: 'answered', id: String(round), deadlineMs: 5_000};
	return {state: {...state, asked: round}, effects: [question]};
}

export default {
	kind: 'Ping',
	/** `--input 3` stops it after three answers. */
	init: (rounds, context) => ask({rounds: rounds ?? Infinity, asked: 0}, context),
	receive(state, message, context) {
		switch (message.type) {
			case 'answered': {
				const {outcome} = message;
				const line = print(outcome.ok ? `${message.id}: ${outcome.value}` : `${message.id}: no answer: ${outcome.error.message}`);
				if (state.asked >= state.rounds) return {state, effects: [line], stop: true};
				return {state, effects: [line, inASecond(context)]};
			}
			case 'next':
				return ask(state, context);
			default:
				return undefined; // It knows no other message.
		}
	},
	describe: state => `${state.asked} asked`,
};
