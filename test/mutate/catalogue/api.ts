import type {Mistake} from '../mistake.js';

export const ofApi: readonly Mistake[] = [
	{
		what: 'ports 0 and -1 are ports',
		file: 'api/schemas/parts.ts',
		text: 'whole(1, 65_535)',
		becomes: 'whole(-1, 65_535)',
		test: 'test/api/pod-rules.test.ts',
	},
	{
		what: 'a quantity is rounded down',
		file: 'api/quantity.ts',
		text: 'Math.ceil(value)',
		becomes: 'Math.floor(value)',
		test: 'test/api/values.test.ts',
	},
	{
		what: 'NotIn does not match what lacks the label',
		file: 'api/selector.ts',
		text: 'value === undefined || !values.includes(value)',
		becomes: 'value !== undefined && !values.includes(value)',
		test: 'test/api/selectors.test.ts',
	},
	{
		what: 'a filter that begins with a wildcard matches topics of the broker itself',
		file: 'api/mqtt-filter.ts',
		text: 'if (isHidden(filter, topic)) return false;',
		becomes: '',
		test: 'test/api/bus.test.ts',
	},
	{
		what: 'a back-off may be as short as one likes',
		file: 'api/backoff.ts',
		text: 'ms >= limits.backoffLeastMs && ',
		becomes: '',
		test: 'test/api/backoff.test.ts',
	},
	{
		what: 'whoever may look may read Secrets',
		file: 'api/roles.ts',
		text: " && resource.split('/')[0] !== 'secrets'",
		becomes: '',
		test: 'test/api/bus.test.ts',
	},
	{
		what: 'a node may speak for another one',
		file: 'api/roles.ts',
		text: "role === 'node' && topic.from === name && ",
		becomes: "role === 'node' && ",
		test: 'test/api/bus.test.ts',
	},
	{
		what: 'a hostPort that leads nowhere else asks for nothing, one that does neither',
		file: 'api/features.ts',
		text: 'ports.some(isMapped)',
		becomes: 'ports.length < 0',
		test: 'test/actors/placement.test.ts',
	},
	{
		what: 'null in a merge patch takes nothing away',
		file: 'api/merge-patch.ts',
		text: 'if (change === null) return members.delete(key);',
		becomes: '',
		test: 'test/api/values.test.ts',
	},
	{
		what: 'a length of time may have anything between its parts',
		file: 'api/duration.ts',
		text: " || parts.map(([part]) => part).join('') !== text",
		becomes: '',
		test: 'test/cli/table.test.ts',
	},
];
