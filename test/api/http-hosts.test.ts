import test from 'ava';
import {admitCreate} from '../../api/admission.js';
import {httpHostOf, httpPlaceOf, isHttpHost, mayCall} from '../../api/http-hosts.js';
import {httpHostsOf, type ClusterConfig} from '../../api/kinds/clusterconfig.js';
import {limits} from '../../api/limits.js';

const may = (hosts: readonly string[], url: string): boolean => {
	const place = httpPlaceOf(url);
	return place !== undefined && mayCall(hosts, place);
};

test('a host that is listed may be called at the ports of http and https, and one with a port at that port alone', t => {
	for (const [host, url, expected] of [
		['api.example.com', 'https://api.example.com/orders?a=b', true],
		['api.example.com', 'http://api.example.com', true],
		['api.example.com', 'https://API.example.com:443/', true],
		['api.example.com', 'https://api.example.com:8443/', false],
		['api.example.com', 'http://api.example.com:443/', false],
		['api.example.com', 'https://api.example.com.evil.org/', false],
		['api.example.com', 'https://xapi.example.com/', false],
		['api.example.com', 'https://api.example.com./', false],
		['api.example.com', 'https://api.example.com@evil.org/', false],
		['api.example.com:8443', 'https://api.example.com:8443/', true],
		['api.example.com:8443', 'https://api.example.com/', false],
		['api.example.com:443', 'https://api.example.com/', true],
		['*.example.com', 'https://a.b.example.com/', true],
		['*.example.com', 'https://example.com/', false],
		['*.example.com', 'https://evilexample.com/', false],
		['*.example.com:81', 'http://a.example.com:81/', true],
		['127.0.0.1', 'http://127.0.0.1/', true],
		['127.0.0.1', 'http://2130706433/', true],
		['127.0.0.1', 'http://0x7f.1/', true],
		['127.0.0.1', 'http://localhost/', false],
		['[::1]:8080', 'http://[0:0:0:0:0:0:0:1]:8080/', true],
		['api.example.com', 'ftp://api.example.com/', false],
		['api.example.com', 'api.example.com', false],
	] as const)
		t.is(may([host], url), expected, `${host} ${url}`);
	t.false(may([], 'https://api.example.com/'));
	t.true(may(['a.example.com', 'b.example.com'], 'https://b.example.com/'));
});

test('what a list has to have for a URL is what lets it be called', t => {
	for (const url of ['https://api.example.com/', 'http://10.0.0.7:8080/x', 'http://[::1]/', 'https://[fe80::1]:444/']) {
		const place = httpPlaceOf(url);
		if (place === undefined) t.fail(url);
		else t.true(isHttpHost(httpHostOf(place)) && mayCall([httpHostOf(place)], place), url);
	}
});

const config = (httpHosts: unknown) =>
	admitCreate({apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata: {name: 'cluster'}, spec: {workflows: {httpHosts}}});

test('the hosts of a ClusterConfig are hosts, and there are none unless some are named', t => {
	const hosts = ['api.example.com', '*.example.com', '10.0.0.7:8080', '[::1]:80'];
	const admitted = config(hosts);
	if (admitted.ok) t.deepEqual(httpHostsOf(admitted.value as ClusterConfig), hosts);
	else t.fail(admitted.error.message);
	t.deepEqual([httpHostsOf(undefined), httpHostsOf({spec: {}})], [[], []]);
	t.like(admitCreate({apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata: {name: 'cluster'}}), {
		ok: true,
		value: {spec: {workflows: {httpHosts: []}}},
	});
	for (const host of [
		'*',
		'',
		'https://a.example.com',
		'a.example.com/x',
		'A.example.com',
		'a:0',
		'a:65536',
		'a:b',
		'::1',
		'127.1',
		'*.*.com',
		'a b',
	]) {
		const refused = config(['ok.example.com', host]);
		if (refused.ok) t.fail(host);
		else t.regex(refused.error.message, /spec\.workflows\.httpHosts\[1\].* must be a host, such as /, host);
	}
	const many = config(Array.from({length: limits.workflowHttpHosts + 1}, (_, at) => `h${at}.example.com`));
	if (many.ok) t.fail('too many');
	else t.regex(many.error.message, /must be at most 100 hosts, got 101/);
	t.false(config('api.example.com').ok);
});
