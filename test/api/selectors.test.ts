import test from 'ava';
import {kindByPlural} from '../../api/catalogue.js';
import {parseFieldSelector} from '../../api/field-selector.js';
import {pod} from '../../api/kinds/pod.js';
import {matches} from '../../api/selector.js';
import {formatSelector, parseSelector} from '../../api/selector-text.js';
import {aPod, committed} from './_objects.js';

const labels = {app: 'web', tier: 'db'};

const texts: readonly [text: string, selects: boolean, written: string][] = [
	['', true, ''],
	['app', true, 'app'],
	['!app', false, '!app'],
	['! canary', true, '!canary'],
	['app=web', true, 'app=web'],
	['app==web', true, 'app=web'],
	['app = web , tier!=web', true, 'app=web,tier notin (web)'],
	['app!=web', false, 'app notin (web)'],
	['canary!=yes', true, 'canary notin (yes)'],
	['app in (web,p),app!=x', true, 'app in (web,p),app notin (x)'],
	['app in(p)', false, 'app=p'],
	['app notin (web, p)', false, 'app notin (web,p)'],
	['app=', false, 'app='],
	['a.b/c=d', false, 'a.b/c=d'],
	['app=web,app=db', false, 'app=web,app in (db)'],
];

for (const [text, selects, written] of texts) {
	test(`the selector "${text}" ${selects ? 'selects' : 'does not select'} app=web,tier=db`, t => {
		const parsed = parseSelector(text);
		t.is(parsed.ok && matches(parsed.value, labels), selects);
		t.is(parsed.ok && formatSelector(parsed.value), written);
	});
}

for (const text of [
	'=a',
	'a b',
	'a in b',
	'a in (b',
	'a>3',
	'a=b,,c',
	'-a',
	'a=b c',
	'!a=b',
	'a=%',
	`a in ${'('.repeat(20_000)}`,
	`a${' '.repeat(50_000)}b`,
]) {
	test(`the selector "${text.slice(0, 20)}" is refused`, t => {
		const parsed = parseSelector(text);
		t.is(parsed.ok ? '' : parsed.error.code, 'ERR_BAD_REQUEST');
	});
}

test('a refused selector says which part is wrong', t => {
	const parsed = parseSelector('app=web,a>3');
	t.is(
		parsed.ok ? '' : parsed.error.message,
		'the label selector "app=web,a>3" is wrong: "a>3" is no requirement; one is key, !key, key=value, key!=value or key in (a,b)',
	);
});

test('field selectors find by name, node and phase', t => {
	const object = committed(aPod({nodeName: 'n'}), {phase: 'Running'});
	const found = (text: string): boolean | string => {
		const parsed = parseFieldSelector(text, pod);
		return parsed.ok ? parsed.value(object) : parsed.error.message;
	};
	t.true(found(''));
	t.true(found('metadata.name=web,spec.nodeName==n'));
	t.true(found('status.phase!=Failed'));
	t.false(found('metadata.namespace=other'));
	t.is(found('spec.foo=1'), 'field label not supported: spec.foo');
	t.is(found('constructor=1'), 'field label not supported: constructor');
	t.is(found('web'), 'invalid field selector "web": a term is field=value or field!=value');
	const nodes = kindByPlural('nodes');
	t.false(nodes === undefined || parseFieldSelector('status.phase=x', nodes).ok);
});
