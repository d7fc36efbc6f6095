# Restarts both replicas, one after the other: sh /opt/device-trust/deploy/vm/restart.sh
# Instance 3 first tries the version and the configuration without a request, because nginx does not know it. If an instance does
# not become ready, its log says why, the replicas after it stay as they are, and the exit code is 1.
trap 'systemctl stop device-trust@3' EXIT
for instance in 3 1 2; do
  systemctl restart "device-trust@$instance" &&
    curl -sf --noproxy '*' --retry 60 --retry-delay 1 --retry-all-errors -o /dev/null "http://127.0.0.1:946$instance/readyz" && continue
  journalctl --no-pager -n 20 -u "device-trust@$instance" >&2
  echo "device-trust@$instance is not ready. Correct the mistake in its log, or restore what you changed, and run this again." >&2
  exit 1
done
