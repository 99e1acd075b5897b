"""MQTT: topics, payload models, client."""
