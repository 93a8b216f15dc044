// The schema of the ClusterConfig.

import {runtimeClasses} from '../runtime-class.js';
import {schedulerStrategies} from '../scheduler-strategies.js';
import {objectWithOptional} from './metadata.js';
import {about, flag, list, oneOf, optional, record, text, whole} from './parts.js';

export const spec = () =>
	record({
		scheduler: optional(
			about(
				'How pods get their nodes.',
				record({strategy: optional(about('How the scheduler chooses among the nodes that fit.', oneOf(schedulerStrategies)))}),
			),
		),
		runtime: optional(
			about(
				'What runs pods.',
				record({
					default: optional(
						about('The class of new pods that name none: process or docker. Pods that are there keep theirs.', oneOf(runtimeClasses)),
					),
				}),
			),
		),
		nodes: optional(
			about(
				'What holds for nodes.',
				record({
					grace: optional(
						about(
							'How long a silent node has until its pods are replaced, from 1s to 10m; pods that tolerate it longer stay longer.',
							text(),
						),
					),
				}),
			),
		),
		workflows: optional(
			about(
				'What runs of workflows may do.',
				record({
					httpHosts: optional(
						about(
							'Hosts that tasks may call over HTTP, such as api.example.com, *.example.com or 10.0.0.7:8080; none when left out.',
							list(text()),
						),
					),
				}),
			),
		),
		slurm: optional(
			about(
				'What SlurmJobs may do.',
				record({
					hosts: optional(
						about(
							'Login nodes that they may be given to, such as login.hpc.example, *.hpc.example or 10.0.0.7:2222; none when left out.',
							list(text()),
						),
					),
					useAgent: optional(
						about('Whether jobs without a Secret may use the SSH agent of the server (SSH_AUTH_SOCK); not when left out.', flag()),
					),
				}),
			),
		),
		autoscaling: optional(
			about(
				'What autoscalers may do.',
				record({
					prometheusHosts: optional(
						about(
							'Hosts that may be asked for metrics, such as prometheus.example.com:9090 or 10.0.0.7:9090; none when left out.',
							list(text()),
						),
					),
				}),
			),
		),
		network: optional(
			about(
				'Addresses that the cluster gives out.',
				record({
					podCIDR: optional(
						about(
							'Where nodes get the subnets of their pods from: a part of IPv4 such as 10.244.0.0/16. Subnets that were given out stay.',
							text(),
						),
					),
					serviceCIDR: optional(
						about('Where Services get their addresses from: 10.96.0.0/12 when left out. Those that were given out stay.', text()),
					),
					nodePorts: optional(about('The ports of nodes that Services get: 30000-32767 when left out.', text())),
				}),
			),
		),
	});

export const status = () => record({observedGeneration: optional(whole(0, Number.MAX_SAFE_INTEGER))});

export const schema = () => objectWithOptional(about('Settings of the cluster.', spec()));
