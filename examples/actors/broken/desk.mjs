// A desk that passes letters on to its clerk, and a clerk whose answers never arrive. Find out why: docs/inspector.md, "Finding a bug".
// Run it by `troupe actor run examples/actors/broken/desk.mjs`; it takes {"type": "letter", "text": "hello"}.

const desk = {
	kind: 'Desk',
	init: () => ({state: {answers: 0}, effects: [{type: 'spawn', name: 'clerk', behavior: 'clerk'}]}),
	receive(state, message, {self}) {
		if (message.type === 'answer') return {state: {answers: state.answers + 1}, effects: [{type: 'print', text: message.text}]};
		return {state, effects: [{type: 'tell', to: `${self}/clerk`, message: {...message, answerTo: self}}]};
	},
	describe: ({answers}) => `${answers} answers`,
};

const clerk = {
	kind: 'Clerk',
	init: () => ({state: {read: 0}}),
	receive: ({read}, {text, answerTo}) => ({
		state: {read: read + 1},
		// The mistake: there is nobody at that address.
		effects: [{type: 'tell', to: `${answerTo}/desk`, message: {type: 'answer', text: `thank you for "${text}"`}}],
	}),
	describe: ({read}) => `${read} read`,
};

export const behaviors = {desk, clerk};
export const root = 'desk';
