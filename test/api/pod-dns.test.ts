// What a pod may say of names: each field by Kubernetes' rules, told with its path.

import test from 'ava';
import {admitCreate} from '../../api/admission.js';
import {aPod, problemsOf} from './_objects.js';

const withDns = (dnsConfig: object, dnsPolicy?: string): object => {
	const pod = aPod();
	return {...pod, spec: {...pod.spec, dnsConfig, ...(dnsPolicy === undefined ? {} : {dnsPolicy})}};
};
const at = 'spec.dnsConfig';
const texts = (count: number, of: (i: number) => string): string[] => Array.from({length: count}, (_each, i) => of(i));

test('all of it is admitted, and kept as it was said', t => {
	const dnsConfig = {
		nameservers: ['192.0.2.1', '2001:db8::1'],
		searches: ['shop.example.com', '_tcp.example.com.', '.', 'local'],
		options: [{name: 'ndots', value: '2'}, {name: 'rotate'}],
	};
	for (const policy of ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']) {
		const admitted = admitCreate(withDns(dnsConfig, policy));
		t.like(admitted, {ok: true, value: {spec: {dnsPolicy: policy, dnsConfig}}});
	}
	t.deepEqual(problemsOf(withDns({})), []);
});

test('None has to name a server', t => {
	const problem = `${at}.nameservers: must name at least one server with dnsPolicy None`;
	t.deepEqual(problemsOf(aPod({dnsPolicy: 'None'})), [problem]);
	t.deepEqual(problemsOf(withDns({searches: ['a']}, 'None')), [problem]);
});

for (const [title, dnsConfig, ...problems] of [
	['a name of a server', {nameservers: ['dns.example.com']}, `${at}.nameservers[0]: must be an IP address, got "dns.example.com"`],
	['four servers', {nameservers: texts(4, i => `192.0.2.${i}`)}, `${at}.nameservers: must be at most 3 servers, got 4`],
	['33 domains', {searches: texts(33, i => `d${i}`)}, `${at}.searches: must be at most 32 domains, got 33`],
	[
		'more than fits a line',
		{searches: texts(32, i => `${'x'.repeat(63)}.d${i}`)},
		`${at}.searches: must have at most 2048 characters in all, spaces included, got 2165`,
	],
	[
		'lines in a domain',
		{searches: ['a.example\nnameserver 192.0.2.66']},
		`${at}.searches[0]: must be a domain such as shop.example.com, got "a.example\\nnameserver 192.0.2.66"`,
	],
	[
		'an option without a name, and lines in others',
		{options: [{value: '2'}, {name: 'ndots:1'}, {name: 'a b', value: '1\n2'}]},
		`${at}.options[0].name: must not be empty`,
		`${at}.options[1].name: must be the name of an option such as ndots, at most 64 characters, got "ndots:1"`,
		`${at}.options[2].name: must be the name of an option such as ndots, at most 64 characters, got "a b"`,
		`${at}.options[2].value: must be without spaces, at most 64 characters, got "1\\n2"`,
	],
	['33 options', {options: texts(33, i => `o${i}`).map(name => ({name}))}, `${at}.options: must be at most 32 options, got 33`],
] as readonly (readonly [title: string, dnsConfig: object, ...problems: string[]])[])
	test(`refuses ${title}`, t => t.deepEqual(problemsOf(withDns(dnsConfig)), problems));

test('what is no dnsConfig is told, and nothing throws', t => {
	for (const wrong of [
		7,
		'x',
		[],
		[7],
		{nameservers: 7},
		{nameservers: [7]},
		{searches: [{}]},
		{options: ['ndots']},
		{options: [{name: 7}]},
	])
		t.true(problemsOf(withDns(wrong as object, 'None')).length > 0);
});
