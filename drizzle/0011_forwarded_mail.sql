ALTER TABLE "inbound_routes" DROP CONSTRAINT "inbound_routes_action_check";
ALTER TABLE "received" DROP CONSTRAINT "received_state_check";
ALTER TABLE "inbound_routes" ADD COLUMN "forward_to" text[];
ALTER TABLE "inbound_routes" ADD CONSTRAINT "inbound_routes_action_check" CHECK ("inbound_routes"."action" in ('webhook', 'forward', 'keep'));
ALTER TABLE "received" ADD CONSTRAINT "received_state_check" CHECK ("received"."state" in ('stored', 'posting', 'retrying', 'posted', 'forwarded', 'kept', 'failed'));
