// docs/mqtt.md has a row for each behaviour of the table, under its group, and no other; each row has a test of its own.

import test from 'ava';
import {behaviours, type Behaviour, type Group} from '../system/broker/mqtt/behaviours.js';
import {readPage, tableRows} from './_pages.js';

const {text} = readPage('docs/mqtt.md');
const keptText = ({kept}: Behaviour): string => (kept === true ? 'yes' : `no: ${kept}`);

test('the page has the table of behaviours, group by group', t => {
	const groups = Object.keys(behaviours) as Group[];
	for (const group of groups) {
		const [, section = ''] = text.split(`\n### ${group}\n`);
		const rows = tableRows(section.split('\n### ')[0] ?? '', 'situation', 'clause', 'kept');
		const expected = Object.entries<Behaviour>(behaviours[group]).map(([situation, behaviour]) => [
			situation,
			behaviour.clause,
			keptText(behaviour),
		]);
		t.deepEqual(rows, expected, group);
	}
	const inAll = groups.reduce((sum, group) => sum + Object.keys(behaviours[group]).length, 0);
	t.is(tableRows(text, 'situation', 'clause', 'kept').length, inAll);
});
