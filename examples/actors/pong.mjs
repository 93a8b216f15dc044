// Answers each ping with a pong.
//
// `troupe actor run examples/actors/pong.mjs`, then ping.mjs beside it.

export default {
	kind: 'Pong',
	init: () => ({state: {answered: 0}, effects: []}),
	receive(state, message) {
		if (message.type !== 'ping') return undefined; // It knows no other message.
		if (message.replyTo === undefined) return {state, effects: []};
		if (message.round === 'crash') throw new Error('asked to crash');
		const answer = {ok: true, value: `pong ${message.round}`};
		return {state: {answered: state.answered + 1}, effects: [{type: 'reply', to: message.replyTo, outcome: answer}]};
	},
	describe: state => `${state.answered} answered`,
};
