// A shop that decides wrongly now and then. Find out when: docs/inspector.md, "Finding a bug". Run it by
// `troupe actor run examples/actors/broken/shop.mjs`; it takes {"type": "order", "of": "pear", "count": 2}.

const shop = {
	kind: 'Shop',
	init: () => ({state: {left: {apple: 3, pear: 5}, sold: 0}}),
	receive(state, {type, of, count}) {
		if (type !== 'order') return {state};
		const left = state.left[of] ?? 0;
		// The mistake: an order for one more than there is goes through.
		if (left + 1 < count) return {state, effects: [{type: 'print', text: `no ${of} for you`}]};
		return {
			state: {left: {...state.left, [of]: left - count}, sold: state.sold + count},
			effects: [{type: 'print', text: `${count} ${of} sold`}],
		};
	},
	describe: ({sold}) => `${sold} sold`,
};

export default shop;
