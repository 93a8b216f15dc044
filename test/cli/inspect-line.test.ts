// Words, places and parts of states as the inspector's shell reads them.

import test from 'ava';
import {parseLine, quoted} from '../../cli/inspect/line.js';
import {isMemberPath, memberPathText, parseMemberPath} from '../../cli/inspect/member-path.js';
import {handWord, meaningsOf, placeOfAddress} from '../../cli/inspect/places.js';

const words = (line: string): readonly string[] => parseLine(line).words.map(({text}) => text);

test('a line of the inspector is words, quoted words, and JSON that needs no quotes', t => {
	t.deepEqual(words('state pod/web-1  .object'), ['state', 'pod/web-1', '.object']);
	t.deepEqual(words(`tell 'a b' "c \\"d\\"" e\\ f ''`), ['tell', 'a b', 'c "d"', 'e f', '']);
	t.deepEqual(words('tell x {"type": "wake", "note": "a } b", "list": [1, 2]} --yes'), [
		'tell',
		'x',
		'{"type": "wake", "note": "a } b", "list": [1, 2]}',
		'--yes',
	]);
	t.deepEqual(words('tree # of all'), ['tree']);
	t.deepEqual(words('cd a#b'), ['cd', 'a#b']);
	t.deepEqual(words('   '), []);
});

test('a line that leaves a quote or a bracket open says so, and goes on in the next one', t => {
	t.is(parseLine('tell x {"a": ').open, 'bracket');
	t.is(parseLine('tell x {"a": "}').open, 'bracket');
	t.is(parseLine("tell 'x").open, 'quote');
	t.is(parseLine('tell x {"a":\n1}').open, undefined);
});

test('it is known whether the cursor stands in a word, and where that begins', t => {
	t.like(parseLine('state pod/w'), {isInWord: true, words: [{from: 0}, {text: 'pod/w', from: 6}]});
	t.false(parseLine('state ').isInWord);
});

test('what is quoted is read as it was', t => {
	for (const word of ['plain', 'a b', "it's", '{"a": 1}', '', '#x', 'a\\b', '"']) t.deepEqual(words(quoted(word)), [word], word);
});

const systems = ['control', 'vm'];
const places = (word: string, here: string): readonly string[] => meaningsOf(word, here, systems, 'shop').map(({place}) => place);

test('a word is a place from where one stands, from the root, or an object as kubectl names it', t => {
	t.deepEqual(places('/', 'control/pods'), ['']);
	t.deepEqual(places('..', 'control/pods'), ['control']);
	t.deepEqual(places('../../..', 'control/pods'), ['']);
	t.deepEqual(places('../nodes/./vm/', 'control/pods'), ['control/nodes/vm']);
	t.deepEqual(places('/vm/pods', 'control/pods'), ['vm/pods']);
	t.deepEqual(places('troupe://control/pods/default.web-1', 'vm'), ['control/pods/default.web-1']);
	t.deepEqual(places('x', 'control/pods'), ['control/pods/x']);
	t.deepEqual(places('pod/web-1', ''), ['pod/web-1', 'control/pods/shop.web-1']);
	t.deepEqual(places('deploy/web', 'vm'), ['vm/deploy/web', 'control/deployments/shop.web']);
	t.deepEqual(places('node/vm', ''), ['node/vm', 'control/nodes/vm']);
	t.deepEqual(places('pods', ''), ['pods', 'control/pods']);
	t.deepEqual(places('vm/pods', 'control/nodes'), ['control/nodes/vm/pods', 'vm/pods']);
	t.deepEqual(meaningsOf('pod/web-1', '', systems, 'shop')[1]?.hand, {record: 'control/pods/shop.web-1', name: 'shop.web-1'});
});

test('hand/NAME is the hand of a pod, wherever it is', t => {
	t.deepEqual(handWord('hand/web-1/nginx', 'shop'), {record: 'control/pods/shop.web-1', below: 'pods/shop.web-1/nginx'});
	t.is(handWord('hand', 'shop'), undefined);
	t.is(handWord('pod/web-1', 'shop'), undefined);
	t.is(placeOfAddress('troupe://vm/'), 'vm');
});

test('a part of a state is members with dots, in brackets where they have some', t => {
	const labels = ['object', 'metadata', 'labels', 'app.kubernetes.io/name'];
	t.deepEqual(parseMemberPath('.object.metadata.labels[app.kubernetes.io/name]'), labels);
	t.is(memberPathText(labels), '.object.metadata.labels[app.kubernetes.io/name]');
	t.deepEqual(parseMemberPath('.'), []);
	t.true(isMemberPath('.object'));
	t.false(isMemberPath('..'));
	t.false(isMemberPath('../x'));
	t.false(isMemberPath('./x'));
	t.throws(() => parseMemberPath('.a..b'), {message: /is no part of a state/});
});
