import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {ipv4Number, ipv4Text, overlap, parseSubnet, subnetText, type Subnet} from '../../api/ipv4.js';
import {aNode} from '../actors/_objects.js';

test('addresses and subnets are read as they are written, and nothing else is', t => {
	t.is(ipv4Text(ipv4Number('10.244.3.255') ?? 0), '10.244.3.255');
	for (const text of ['', '1.2.3', '1.2.3.256', '1.2.3.4.5', '1.2.3.x', ' 1.2.3.4', '::1']) t.is(ipv4Number(text), undefined, text);
	for (const text of ['10.244.0.0/16', '10.0.0.0/8', '1.2.3.4/32', '0.0.0.0/0']) t.is(subnetText(parseSubnet(text) as Subnet), text);
	for (const text of ['10.244.0.1/16', '10.0.0.0', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/', '/8'])
		t.is(parseSubnet(text), undefined, text);
});

test('two subnets overlap when they share an address', t => {
	const of = (a: string, b: string): boolean => overlap(parseSubnet(a) as Subnet, parseSubnet(b) as Subnet);
	t.true(of('10.0.0.0/8', '10.3.0.0/16') && of('10.3.0.0/16', '10.0.0.0/8') && of('10.3.0.0/24', '10.3.0.0/24'));
	t.false(of('10.3.0.0/24', '10.3.1.0/24') || of('10.3.1.0/24', '10.3.0.0/24'));
});

test('the range of pods has room for the subnet of a node', t => {
	const config = (podCIDR: string) =>
		admitCreate({apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata: {name: 'cluster'}, spec: {network: {podCIDR}}});
	for (const podCIDR of ['10.244.0.0/16', '10.1.2.0/24', '10.0.0.0/8']) t.true(config(podCIDR).ok, podCIDR);
	for (const podCIDR of ['10.244.0.0/25', '10.244.0.1/16', 'many', '0.0.0.0/0']) {
		const admitted = config(podCIDR);
		if (admitted.ok) t.fail(podCIDR);
		else t.regex(admitted.error.message, /spec\.network\.podCIDR.* must be a subnet of IPv4 from \/8 to \/24/);
	}
});

test('the subnet of a node is given out: a manifest may repeat it or leave it out, and set no other', t => {
	const old = aNode({spec: {podCIDR: '10.244.3.0/24', podCIDRs: ['10.244.3.0/24']}});
	const specOf = (spec: object | undefined) => {
		const admitted = admitUpdate({...old, spec}, old);
		return admitted.ok ? admitted.value.spec : admitted.error.message;
	};
	t.deepEqual(specOf({unschedulable: true}), {...old.spec, unschedulable: true});
	t.deepEqual(specOf(old.spec), old.spec);
	t.regex(String(specOf({podCIDR: '10.244.4.0/24'})), /spec\.podCIDR.* is given out by the cluster/);
});
